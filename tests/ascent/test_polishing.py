"""Polishing: fixed points that are exact where theory says so, and keep library and dtype."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.mixture import GaussianMixture as SklearnMixture

from sightline._arrays import to_numpy
from sightline.ascent.polishing import POLISHES, SETTLED, TwoGroups, polish
from sightline.datasets import BernoulliRademacher, ImbalancedClusters, make_planted
from sightline.sphere import normalise, random_directions
from sightline.whitening import fit_whitening


def whitened(signal, n=4000, d=8, seed=0):
    X, direction, labels = make_planted(n, d, signal=signal, random_state=seed)
    whitening = fit_whitening(X)
    return whitening.apply(X), whitening.directions(direction[None, :])[0], labels


def near(direction, distance, seed=0):
    aside = random_directions(1, direction.size, np.random.default_rng(seed))[0]
    return normalise(direction + distance * aside)[None, :]


def test_groups_ends_at_fishers_discriminant_of_the_true_groups():
    """Where groups hardly overlap, memberships are labels, and the pull is Fisher's direction."""
    X, direction, labels = whitened(ImbalancedClusters(0.1, spread=0.2))
    found = polish("groups", near(direction, 0.5), X).directions[0]
    fisher = LinearDiscriminantAnalysis().fit(X, labels).coef_[0]
    assert abs(found @ normalise(fisher)) > 1 - 1e-4


def test_sparse_is_a_stationary_point_of_its_contrast_on_the_sphere():
    """At the fixed point the tangent part of mean[x t exp(-t^2/2)] vanishes."""
    X, direction, _ = whitened(BernoulliRademacher(0.1, spread=0.3))
    found = polish("sparse", near(direction, 0.5), X, steps=200).directions[0]
    t = X @ found
    pull = (t * np.exp(-(t**2) / 2)) @ X / len(X)
    assert np.linalg.norm(pull - (pull @ found) * found) < 1e-3
    assert abs(found @ direction) > 0.99


@pytest.mark.parametrize(
    ("kind", "signal"),
    [
        ("groups", ImbalancedClusters(0.1, spread=0.5)),
        ("sparse", BernoulliRademacher(0.1, spread=0.3)),
    ],
)
def test_polishing_sharpens_a_rough_direction(kind, signal):
    X, direction, _ = whitened(signal)
    rough = near(direction, 0.6)
    polished = polish(kind, rough, X)
    assert abs(polished.directions[0] @ direction) > abs(rough[0] @ direction) + 0.05
    assert polished.moved[0] < SETTLED


def test_an_exact_two_point_direction_is_found_to_the_last_digits():
    X, direction, _ = whitened(ImbalancedClusters(0.1), n=500)
    found = polish("groups", near(direction, 0.3), X).directions[0]
    assert 1 - abs(found @ direction) < 1e-9


@pytest.mark.parametrize("kind", POLISHES)
def test_all_at_once_is_one_at_a_time(kind):
    X, direction, _ = whitened(ImbalancedClusters(0.1, spread=0.3))
    rough = np.concatenate([near(direction, 0.4, seed) for seed in range(4)])
    together = polish(kind, rough, X, steps=3).directions
    for u, expected in zip(rough, together, strict=True):
        assert_allclose(polish(kind, u[None, :], X, steps=3).directions[0], expected, atol=1e-9)


@pytest.mark.parametrize("kind", POLISHES)
def test_a_rotation_of_the_rows_rotates_the_answer(kind):
    X, direction, _ = whitened(ImbalancedClusters(0.1, spread=0.3))
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((8, 8)))[0]
    rough = near(direction, 0.4)
    plain = polish(kind, rough, X, steps=3).directions
    turned = polish(kind, rough @ Q, X @ Q, steps=3).directions
    assert_allclose(turned, plain @ Q, atol=1e-9)


@pytest.mark.parametrize("kind", POLISHES)
def test_library_and_dtype_are_kept(kind, xp):
    X, direction, _ = whitened(ImbalancedClusters(0.1, spread=0.3))
    rough = near(direction, 0.4)
    polished = polish(
        kind, xp.asarray(rough.astype(np.float32)), xp.asarray(X.astype(np.float32)), steps=3
    )
    assert type(polished.directions) is type(xp.asarray(rough))
    assert polished.directions.dtype == xp.float32
    expected = polish(kind, rough, X, steps=3).directions
    assert_allclose(to_numpy(polished.directions), expected, atol=1e-4)


def test_the_groups_are_those_of_a_mixture_of_one_variance():
    rng = np.random.default_rng(0)
    scores = np.where(rng.random(3000) < 0.2, 3.0, -0.5) + 0.6 * rng.standard_normal(3000)
    ours = TwoGroups.at_the_upper_end(scores[:, None]).refit(scores[:, None], steps=200)
    peer = SklearnMixture(2, covariance_type="tied", tol=1e-10, max_iter=1000, random_state=0)
    peer.fit(scores[:, None])
    upper = int(peer.means_[:, 0].argmax())
    assert_allclose(ours.upper[0], peer.means_[upper, 0], rtol=1e-3)
    assert_allclose(ours.share[0], peer.weights_[upper], rtol=1e-3)
    assert_allclose(ours.variance[0], peer.covariances_[0, 0], rtol=1e-3)
    slope, offset = ours.log_odds()
    member = expit(slope * scores + offset)
    assert_allclose(member, peer.predict_proba(scores[:, None])[:, upper], atol=1e-3)
