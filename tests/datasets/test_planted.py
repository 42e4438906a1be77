"""Planted tables: the signal along the direction, the ambient law across it, and the same bits."""

import math

import numpy as np
import pytest
from scipy import stats
from threadpoolctl import threadpool_limits

from sightline.datasets import (
    AMBIENTS,
    Ambient,
    BernoulliRademacher,
    GaussianMixture,
    HierarchicalClusters,
    ImbalancedClusters,
    make_anisotropic,
    make_planted,
    make_unequal_variance,
)

SKEW_MEAN = 3 / math.sqrt(10) * math.sqrt(2 / math.pi)  # delta sqrt(2/pi), alpha = 3
LAWS = {  # and rows enough to tell 2 from 3 degrees of freedom, which are 0.02 apart
    "normal": (stats.norm(), 20_000),
    "student-t": (stats.t(2), 200_000),
    "skew-normal": (stats.skewnorm(3), 5_000),
}


class Fixed:
    """A user's signal: these values, in this order."""

    def __init__(self, values, labels=None):
        self.values = values
        self.labels = np.zeros(len(values), dtype=int) if labels is None else labels

    def __repr__(self):  # the same in every process, as names of tests have to be
        return f"Fixed({np.shape(self.values)}, {np.shape(self.labels)})"

    def sample(self, n, rng):
        return self.values, self.labels


def dkw(n, chance=1e-9):
    """The Kolmogorov distance that n draws exceed with at most this chance (Massart 1990)."""
    return math.sqrt(math.log(2 / chance) / (2 * n))


@pytest.mark.parametrize("ambient", AMBIENTS)
@pytest.mark.parametrize("d", [1, 2, 7, 60])
def test_the_scores_along_the_direction_are_the_signal(ambient, d):
    values = np.random.default_rng(0).uniform(-3, 3, size=1500)
    labels = np.arange(1500) % 4
    X, direction, found = make_planted(1500, d, Fixed(values, labels), ambient, random_state=1)
    assert X.shape == (1500, d)
    assert direction.shape == (d,)
    assert np.linalg.norm(direction) == pytest.approx(1, abs=1e-14)
    size = 1e-15 * d * (1 + np.linalg.norm(X, axis=1))
    assert np.all(np.abs(X @ direction - values) < 8 * size)
    assert np.array_equal(found, labels)
    assert found.dtype == np.int64


@pytest.mark.parametrize("ambient", LAWS)
def test_across_the_direction_is_the_ambient_law(ambient):
    # In the plane the one orthogonal coordinate is known but for the sign of e_2.
    law, n = LAWS[ambient]
    X, direction, _ = make_planted(n, 2, ambient=ambient, random_state=2)
    across = X @ np.array([-direction[1], direction[0]])
    distance = min(stats.kstest(sign * across, law.cdf).statistic for sign in (1.0, -1.0))
    assert distance < dkw(n)


def test_rademacher_rows_have_the_same_length_across_the_direction():
    X, direction, _ = make_planted(3000, 9, ambient="rademacher", random_state=3)
    across = np.sum(X**2, axis=1) - (X @ direction) ** 2
    np.testing.assert_allclose(across, 8, rtol=1e-12)
    # In the plane the coordinate itself is +-1, as often each: six standard errors of 3000.
    X, direction, _ = make_planted(3000, 2, ambient="rademacher", random_state=3)
    side = np.sign(X @ np.array([-direction[1], direction[0]]))
    assert abs(side.mean()) < 6 / math.sqrt(3000)


def test_skew_normal_noise_is_as_printed_neither_centred_nor_scaled():
    n, d = 40_000, 6
    X, direction, _ = make_planted(n, d, ambient="skew-normal", random_state=4)
    mean = X.mean(axis=0) - (X.mean(axis=0) @ direction) * direction
    # Every e_i carries the mean 0.757, so the mean is that times the root of d - 1.
    assert np.linalg.norm(mean) == pytest.approx(SKEW_MEAN * math.sqrt(d - 1), rel=0.03)
    across = X - np.outer(X @ direction, direction)
    spread = np.linalg.eigvalsh(np.cov(across.T))[1:]
    np.testing.assert_allclose(spread, 1 - SKEW_MEAN**2, rtol=0.06)


@pytest.mark.parametrize("ambient", ["normal", "rademacher"])
def test_standardised_ambients_leave_nothing_for_principal_components(ambient):
    X, _, _ = make_planted(50_000, 5, ambient=ambient, random_state=5)
    assert np.all(np.abs(X.mean(axis=0)) < 6 / math.sqrt(50_000))
    np.testing.assert_allclose(np.linalg.eigvalsh(np.cov(X.T)), 1, atol=0.06)


def test_the_noise_is_laid_along_an_orthonormal_basis(monkeypatch):
    # x x' = sum z_i z'_i + nu nu' for an orthonormal basis, whichever it is.
    noise = np.random.default_rng(6).standard_normal((40, 11))
    monkeypatch.setitem(AMBIENTS, "known", Ambient(lambda rng, shape: noise))
    values = np.linspace(-2, 2, 40)
    X, _, _ = make_planted(40, 12, Fixed(values), "known", random_state=7)
    np.testing.assert_allclose(X @ X.T, noise @ noise.T + np.outer(values, values), atol=1e-13)


def test_the_basis_is_uniform(monkeypatch):
    # With z = (1, 0, ..) and nu = 0 the row is e_2 itself.
    def first_only(rng, shape):
        return np.eye(1, shape[1])

    monkeypatch.setitem(AMBIENTS, "first", Ambient(first_only))
    in_plane = [make_planted(1, 2, Fixed([0.0]), "first", random_state=s) for s in range(200)]
    left = sum(X[0] @ np.array([-u[1], u[0]]) > 0 for X, u, _ in in_plane)
    assert abs(left - 100) < 42.5  # six standard deviations of 200 coins
    in_space = np.array(
        [make_planted(1, 3, Fixed([0.0]), "first", random_state=s)[0][0] for s in range(200)]
    )
    # Each coordinate is uniform on (-1, 1) in space (Archimedes).
    for coordinate in in_space.T:
        assert stats.kstest(coordinate, stats.uniform(-1, 2).cdf).statistic < dkw(200)


def test_projection_and_basis_give_the_normal_ambient_the_same_law(monkeypatch):
    monkeypatch.setitem(AMBIENTS, "normal in a basis", Ambient(AMBIENTS["normal"].draw))
    n, d = 20_000, 5
    projected, u, labels = make_planted(n, d, random_state=8)
    in_basis, same_u, same_labels = make_planted(n, d, ambient="normal in a basis", random_state=8)
    assert np.array_equal(u, same_u)
    assert np.array_equal(labels, same_labels)
    for looking in np.random.default_rng(9).standard_normal((6, d)):
        across = looking - (looking @ u) * u
        distance = stats.ks_2samp(projected @ across, in_basis @ across).statistic
        assert distance < math.sqrt(2) * dkw(n)
        along = stats.ks_2samp(projected @ looking, in_basis @ looking).statistic
        assert along < math.sqrt(2) * dkw(n)


def test_directions_are_uniform():
    directions = np.array([make_planted(1, 3, random_state=s)[1] for s in range(500)])
    for coordinate in directions.T:
        assert stats.kstest(coordinate, stats.uniform(-1, 2).cdf).statistic < dkw(500)


@pytest.mark.parametrize("ambient", AMBIENTS)
@pytest.mark.parametrize("d", [2, 400])
def test_the_same_seed_gives_the_same_bits_whatever_the_threads(ambient, d):
    n = 1500
    with threadpool_limits(1):
        first = make_planted(n, d, ambient=ambient, random_state=10)
    with threadpool_limits(2):
        second = make_planted(n, d, ambient=ambient, random_state=np.random.default_rng(10))
    for one, other in zip(first, second, strict=True):
        assert one.tobytes() == other.tobytes()
    assert not np.array_equal(first[0], make_planted(n, d, ambient=ambient, random_state=11)[0])


@pytest.mark.parametrize("ambient", AMBIENTS)
def test_the_float32_table_is_the_float64_one_rounded(ambient):
    wide = make_planted(1100, 6, ambient=ambient, random_state=12)
    narrow = make_planted(1100, 6, ambient=ambient, random_state=12, dtype="float32")
    assert narrow[0].dtype == narrow[1].dtype == np.float32
    for one, other in zip(wide, narrow, strict=True):
        assert np.array_equal(one.astype(other.dtype), other)


@pytest.mark.parametrize(
    "signal",
    [
        ImbalancedClusters(0.2, 0.1),
        BernoulliRademacher(0.2),
        HierarchicalClusters(0.2),
        GaussianMixture(),
    ],
    ids=repr,
)
@pytest.mark.parametrize("ambient", AMBIENTS)
def test_every_signal_goes_with_every_ambient(signal, ambient):
    X, direction, labels = make_planted(5000, 4, signal, ambient, random_state=13)
    scores = X @ direction
    error = math.sqrt((signal.moment(4) - signal.moment(2) ** 2) / 5000)
    assert abs(np.mean(scores**2) - signal.moment(2)) < 6 * error
    rare = scores[labels == 1].mean() - scores[labels == 0].mean()
    assert rare > 1  # label 1 is the far positive part of every law


def test_one_row_and_the_default_signal():
    X, direction, labels = make_planted(1, 1, random_state=14)
    assert X.shape == (1, 1)
    assert abs(direction[0]) == 1
    expected = 3.0 if labels[0] == 1 else -1 / 3  # the clusters of p = 0.1
    assert X[0, 0] * direction[0] == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n": 0}, ValueError, "n=0"),
        ({"d": 0}, ValueError, "d=0"),
        ({"n": 3.0}, TypeError, "n=3.0"),
        ({"ambient": "cauchy"}, ValueError, "ambient='cauchy' .* 'student-t'"),
        ({"random_state": "today"}, TypeError, "random_state='today'"),
        ({"dtype": "int64"}, ValueError, "dtype='int64' must be float32 or float64"),
        ({"dtype": "no such"}, ValueError, "dtype='no such' must be float32 or float64"),
        ({"signal": "clusters"}, TypeError, "signal='clusters' is no signal"),
        ({"signal": ImbalancedClusters}, TypeError, "is a class; pass an instance"),
        ({"signal": Fixed(np.zeros(4))}, ValueError, r"values of shape \(4,\)"),
        ({"signal": Fixed(np.zeros(3), np.zeros(2, int))}, ValueError, r"labels of shape \(2,\)"),
        ({"signal": Fixed(np.zeros(3), np.zeros(3))}, ValueError, "dtype float64"),
        ({"signal": Fixed(np.array([0, 1, np.nan]))}, ValueError, "not finite in float64"),
        ({"signal": Fixed(np.full(3, 1e39)), "dtype": "float32"}, ValueError, "float32"),
    ],
    ids=str,
)
def test_errors_name_the_option_and_what_it_got(arguments, error, message):
    with pytest.raises(error, match=message):
        make_planted(**{"n": 3, "d": 2, **arguments})


def test_unequal_variance_clusters_have_their_centres_and_variances():
    n, d, p, delta, lam = 20_000, 4, 0.3, 2.5, 0.2
    X, direction, labels = make_unequal_variance(n, d, p, delta, lam, random_state=15)
    assert abs(labels.mean() - p) < 6 * math.sqrt(p * (1 - p) / n)
    rare = (X[labels == 1] - delta * direction) / math.sqrt(lam)
    for part in (X[labels == 0], rare):
        # Independent standard normal entries: any fixed combination of columns is normal again.
        assert stats.kstest(part.ravel(), "norm").statistic < dkw(part.size)
        assert stats.kstest(part @ direction, "norm").statistic < dkw(len(part))
        assert np.abs(np.corrcoef(part.T) - np.eye(d)).max() < 6 / math.sqrt(len(part))


def test_unequal_variance_zero_makes_the_cluster_a_point():
    X, direction, labels = make_unequal_variance(200, 3, 0.3, -2.0, 0, random_state=16)
    np.testing.assert_allclose(X[labels == 1], np.tile(-2 * direction, (labels.sum(), 1)))


@pytest.mark.parametrize("lam", [0, 0.25, 1, 9.0])
def test_anisotropic_rows_differ_along_the_direction_only(lam):
    n, d, p = 20_000, 4, 0.4
    X, direction, labels = make_anisotropic(n, d, p, lam, random_state=17)
    assert abs(labels.mean() - p) < 6 * math.sqrt(p * (1 - p) / n)
    scores, across = X @ direction, np.linalg.svd(direction[None])[2][1:]
    assert stats.kstest((X @ across.T).ravel(), "norm").statistic < dkw(n * (d - 1))
    bulk, odd = scores[labels == 0], scores[labels == 1]
    assert stats.kstest(bulk, "norm").statistic < dkw(bulk.size)
    if lam == 0:
        assert np.all(np.abs(odd) < 1e-14)
    else:
        assert stats.kstest(odd / math.sqrt(lam), "norm").statistic < dkw(odd.size)


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: make_unequal_variance(50, 3, 0.3, 1, 2, seed),
        lambda seed: make_anisotropic(50, 3, 0.3, 2, random_state=seed),
    ],
)
def test_mixtures_repeat_with_their_seed(make):
    for one, other in zip(make(18), make(18), strict=True):
        assert one.tobytes() == other.tobytes()
    assert not np.array_equal(make(18)[0], make(19)[0])
    assert np.linalg.norm(make(18)[1]) == pytest.approx(1, abs=1e-14)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: make_unequal_variance(0, 2, 0.3, 1, 1), ValueError, "n=0"),
        (lambda: make_unequal_variance(2, 2, 1.0, 1, 1), ValueError, r"p=1.0 .*\(0, 1\)"),
        (lambda: make_unequal_variance(2, 2, 0.3, math.inf, 1), ValueError, "delta=inf"),
        (lambda: make_unequal_variance(2, 2, 0.3, 1, -1), ValueError, "lam=-1"),
        (lambda: make_anisotropic(2, 0, 0.3, 1), ValueError, "d=0"),
        (lambda: make_anisotropic(2, 2, 0, 1), ValueError, "p=0"),
        (lambda: make_anisotropic(2, 2, 0.3, -0.1), ValueError, "lam=-0.1"),
        (lambda: make_anisotropic(2, 2, 0.3, "1"), TypeError, "lam='1'"),
    ],
)
def test_mixture_errors_name_the_option_and_what_it_got(make, error, message):
    with pytest.raises(error, match=message):
        make()
