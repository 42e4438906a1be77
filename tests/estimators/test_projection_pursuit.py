"""ProjectionPursuit: what it finds, several directions, options, and the laws of its answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_limits

from sightline import CovMCDPursuit, ProjectionPursuit, SpectralPursuit
from sightline.datasets import BernoulliRademacher, ImbalancedClusters, make_planted
from sightline.indices import INDICES
from sightline.sphere import angle


def clusters(n=2000, d=12, p=0.1, seed=0):
    return make_planted(n, d, signal=ImbalancedClusters(p), random_state=seed)


def fit(X, **options):
    return ProjectionPursuit(**({"n_starts": 60, "random_state": 0} | options)).fit(X)


def several(n=6000, d=20, ps=(0.05, 0.08, 0.12), seed=0):
    """A table with one cluster along each of the first columns, turned at random."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    for column, p in enumerate(ps):
        X[:, column] = ImbalancedClusters(p, spread=0.2).sample(n, rng)[0]
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    return X @ Q, Q[: len(ps)]


SOLVERS = [
    {"solver": "adaptive"},
    {"solver": "two-step"},
    {"solver": "two-step", "resample": "replace"},
]


@pytest.mark.parametrize("solver_options", SOLVERS, ids=str)
def test_it_finds_the_planted_direction(solver_options):
    X, direction, _ = clusters()
    fitted = fit(X, **solver_options)
    assert abs(fitted.components_[0] @ direction) > 0.98


def test_the_default_converges_on_an_easy_table():
    X, direction, _ = clusters()
    fitted = ProjectionPursuit(random_state=0).fit(X)
    assert fitted.converged_.tolist() == [True]
    assert abs(fitted.components_[0] @ direction) > 0.98


def test_convergence_is_denied_to_a_climb_that_was_cut_short():
    X, _, _ = clusters(d=12, p=0.4)
    cut = {"n_steps": 1, "step_sizes": (0.01, 0.4), "starts": "random"}
    assert not fit(X, solver="two-step", **cut).converged_[0]


@pytest.mark.parametrize("solver", ["adaptive", "two-step"])
@pytest.mark.parametrize("multiple", ["merge", "deflate"])
def test_several_directions(multiple, solver):
    X, planted = several()
    fitted = fit(X, n_components=3, n_starts=150, multiple=multiple, solver=solver)
    alignments = np.abs(fitted.components_ @ planted.T)
    assert np.all(alignments.max(axis=0) > 0.9)
    assert np.all(np.diff(fitted.index_values_) <= 0)
    for i in range(3):
        for j in range(i):
            assert angle(fitted.components_[i], fitted.components_[j]) > 15


def test_index_values_are_exact_on_the_whitened_rows():
    X = clusters()[0] @ np.diag(np.arange(1.0, 13))
    fitted = fit(X, n_components=3)
    scores = fitted.transform(X)
    standard = scores / scores.std(axis=0)
    assert_allclose(fitted.index_values_, np.mean(np.maximum(0, standard) ** 2, axis=0), rtol=1e-9)


@pytest.mark.parametrize("index", [name for name in INDICES if name != "dip"])
def test_an_affine_map_of_the_columns_maps_the_answer(index):
    X = clusters(p=0.2)[0]
    rng = np.random.default_rng(5)
    A, b = rng.standard_normal((12, 12)), rng.standard_normal(12)
    starts = rng.standard_normal((20, 12))
    options = {"index": index, "starts": starts, "solver": "two-step", "whiten": "exact"}
    plain = ProjectionPursuit(**options).fit(X)
    whitening = plain._whitening
    turned = ProjectionPursuit(index=index, whiten="exact", n_starts=5).fit(X @ A + b)._whitening
    rotation = turned.apply(X @ A + b).T @ whitening.apply(X) / len(X)
    options["starts"] = starts @ rotation.T
    mapped = ProjectionPursuit(**options).fit(X @ A + b)
    a, c = plain.transform(X), mapped.transform(X @ A + b)
    assert_allclose(a / a.std(), c / c.std(), atol=1e-4)


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads():
    X = clusters(n=9000, d=40)[0]
    states = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            states.append(fit(X, n_components=2, starts="union"))
    assert np.array_equal(states[0].components_, states[1].components_)
    assert np.array_equal(states[0].index_values_, states[1].index_values_)


def test_a_constant_offset_row_order_and_dtype_change_nothing_that_matters():
    X, _direction, _ = clusters()
    found = [fit(table).components_[0] for table in (X, X + 1000, X[::-1], X.astype(np.float32))]
    for other in found[1:]:
        assert abs(other @ found[0]) > 1 - 1e-4


def test_an_index_of_ones_own():
    class Cubic:
        """phi(t) = t^3 / 3, written as a stranger would."""

        def value_slope(self, t, xp):
            square = t * t
            return square * t / 3, square

    X, direction, _ = clusters()
    assert abs(fit(X, index=Cubic()).components_[0] @ direction) > 0.98


def test_starts_and_steps_are_reported():
    X = clusters()[0]
    fitted = fit(X, n_steps=5, solver="two-step")
    assert fitted.n_iter_ == 10
    assert fitted.n_samples_used_ == len(X)
    assert fitted.step_sizes_ == (2.0, 0.5)


def test_fewer_optima_than_components_are_returned_with_a_warning():
    X = clusters(d=2)[0]
    with pytest.warns(UserWarning, match="1 of n_components=2.*minimum_angle=89"):
        fitted = fit(X, n_components=2, minimum_angle=89, n_starts=5)
    assert fitted.transform(X).shape == (2000, 1)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"solver": "newton"}, ValueError, "solver='newton' is unknown; choose from"),
        ({"index": "gini"}, ValueError, "index='gini' is unknown; choose from 'relu2'"),
        ({"index": 3}, TypeError, "index=3 is no index"),
        ({"index": "dip"}, ValueError, "index 'dip' has no slope"),
        ({"select": "gini"}, ValueError, "select='gini'"),
        ({"n_components": 0}, ValueError, "n_components=0 must be a whole number from 1 to 12"),
        ({"n_components": 13}, ValueError, "n_components=13"),
        ({"n_components": "all"}, TypeError, "n_components='all'"),
        ({"whiten": True}, ValueError, "whiten=True is unknown; choose from 'auto', 'exact'"),
        ({"rank": 99}, ValueError, "rank=99"),
        ({"n_starts": 0}, ValueError, "n_starts=0"),
        ({"n_starts": 2.5}, TypeError, r"n_starts=2\.5"),
        ({"starts": "best"}, ValueError, "starts='best' is unknown"),
        ({"multiple": "both"}, ValueError, "multiple='both' is unknown; choose from 'merge'"),
        ({"minimum_angle": 120}, ValueError, "minimum_angle=120 must be"),
        (
            {"solver": "two-step", "resample": "fresh", "batch_size": 10**6},
            ValueError,
            "resample='fresh' needs",
        ),
        ({"batch_size": 9}, ValueError, "batch_size=9 has no use with solver='adaptive'"),
        (
            {"solver": "two-step", "batch_size": 9},
            ValueError,
            "batch_size=9 has no use with resample='full', the default",
        ),
        ({"random_state": "now"}, TypeError, "random_state='now'"),
    ],
)
def test_wrong_options_are_named(options, error, message):
    with pytest.raises(error, match=message):
        fit(clusters(n=500)[0], **options)


def test_transform_before_fit_is_not_fitted():
    with pytest.raises(NotFittedError):
        ProjectionPursuit().transform(np.ones((3, 2)))


def test_the_baselines_recover_what_they_should():
    X, direction, _ = make_planted(4000, 15, signal=BernoulliRademacher(0.1), random_state=0)
    assert abs(SpectralPursuit("cov4max").fit(X).components_[0] @ direction) > 0.95
    X, direction, _ = clusters(n=3000)
    assert abs(SpectralPursuit("max-skew").fit(X).components_[0] @ direction) > 0.9
    assert abs(CovMCDPursuit().fit(X).components_[0] @ direction) > 0.9
    with pytest.raises(ValueError, match="method='pca'"):
        SpectralPursuit("pca").fit(X)
