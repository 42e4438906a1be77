"""Whitening: covariance I, the way back, what is dropped, and what is refused."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.covariance import ledoit_wolf
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from sightline._arrays import to_numpy
from sightline.lazy import StoredRows
from sightline.whitening import METHODS, fit_whitening


def table(n=400, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + rng.standard_normal(d)


def test_whitened_rows_have_mean_zero_and_covariance_one():
    Z = fit_whitening(table()).apply(table())
    assert_allclose(Z.mean(axis=0), 0, atol=1e-13)
    assert_allclose(Z.T @ Z / len(Z), np.eye(6), atol=1e-12)


def test_whitening_does_not_see_an_affine_map_of_the_columns():
    """Whitened rows of X A + b are a rotation of those of X: all inner products agree."""
    X, A = table(), np.random.default_rng(9).standard_normal((6, 6))
    first = fit_whitening(X).apply(X)
    second = fit_whitening(X @ A + 5).apply(X @ A + 5)
    assert_allclose(first @ first.T, second @ second.T, atol=1e-9)


@pytest.mark.parametrize("scales", [[1e-200, 1, 1e200], [1e-300, 1e300, 1e10]])
def test_scales_of_columns_cost_no_digits(scales):
    X = table(d=3)
    plain = fit_whitening(X).apply(X)
    scaled = fit_whitening(X * scales).apply(X * scales)
    assert_allclose(scaled, plain, rtol=1e-8, atol=1e-10)


def test_an_offset_of_1e8_keeps_the_digits_that_the_data_have():
    X = np.round(table() * 2**20) / 2**20  # exactly representable beside the offset
    assert_allclose(
        fit_whitening(X + 2**27).apply(X + 2**27), fit_whitening(X).apply(X), rtol=1e-8, atol=1e-8
    )


def test_the_way_back_gives_the_same_scores():
    X = table()
    whitening = fit_whitening(X)
    V = np.linalg.qr(np.random.default_rng(1).standard_normal((6, 3)))[0].T
    weights = whitening.column_weights(V)
    assert_allclose(np.linalg.norm(weights, axis=1), 1, rtol=1e-14)
    by_columns = (X - X.mean(axis=0)) @ weights.T
    assert_allclose(whitening.scores(X, V), by_columns, atol=1e-12)
    whitened = whitening.apply(X) @ V.T
    assert_allclose(
        by_columns / by_columns.std(axis=0), whitened / whitened.std(axis=0), atol=1e-12
    )
    assert_allclose(whitening.directions(weights), V, atol=1e-12)


def test_scores_are_right_where_a_unit_weight_is_too_small_to_be_held():
    X = table(d=3)
    scales = np.array([1e-200, 1e200, 1.0])
    whitening = fit_whitening(X * scales)
    V = np.array([[0.6, 0.8, 0.0]])
    scores = whitening.scores(X * scales, V)[:, 0] * 1e200
    plain = fit_whitening(X).apply(X) @ V[0]
    assert_allclose(scores / scores.std(), plain / plain.std(), atol=1e-9)


@pytest.mark.parametrize("k", [1, 3, 5])
def test_a_rank_is_pca_truncation(k):
    X = table() * [100, 10, 1, 1, 0.1, 5]
    ours = fit_whitening(X, rank=k).apply(X)
    peer = PCA(k, whiten=True).fit_transform(X) * np.sqrt(400 / 399)  # its divisor is n - 1
    assert_allclose(np.abs(np.sum(ours * peer, axis=0)) / 400, 1, atol=1e-10)


def test_dependent_columns_are_truncated_to_the_numerical_rank():
    X = table()
    wide = np.column_stack((X, X[:, 0], X[:, 1] + X[:, 2]))
    whitening = fit_whitening(wide)
    assert whitening.rank == 6
    Z = whitening.apply(wide)
    assert_allclose(Z.T @ Z / len(Z), np.eye(6), atol=1e-10)


def test_constant_columns_are_named_and_get_weight_zero():
    X = np.column_stack((table(), np.full(400, 0.1)))
    with pytest.warns(UserWarning, match="1 constant column.*'tax'"):
        whitening = fit_whitening(X, columns=["a", "b", "c", "d", "e", "f", "tax"])
    assert_allclose(whitening.apply(X), fit_whitening(X[:, :6]).apply(X[:, :6]), atol=1e-12)
    assert whitening.column_weights(np.eye(6))[:, 6].tolist() == [0.0] * 6


def test_many_constant_columns_are_not_all_listed():
    X = np.column_stack((table(), np.ones((400, 12))))
    with pytest.warns(UserWarning, match=r"12 constant column.*15, \.\.\.\.$"):
        fit_whitening(X)


def test_shrinking_takes_ledoit_and_wolfs_weight():
    X = table(n=30)
    _, weight = ledoit_wolf(X - X.mean(axis=0), assume_centered=True)
    whitening = fit_whitening(X, "shrunk")
    assert_allclose(whitening.shrinkage, weight, rtol=1e-10)
    covariance = np.cov(X.T, bias=True)
    target = (1 - weight) * covariance + weight * np.eye(6) * np.trace(covariance) / 6
    Z = whitening.apply(X)
    inverse = (X - X.mean(axis=0)) @ np.linalg.solve(target, (X - X.mean(axis=0)).T)
    assert_allclose(Z @ Z.T, inverse, atol=1e-9)


def test_shrinking_works_with_fewer_rows_than_columns_and_can_be_given():
    X = table(n=5, d=20)
    assert fit_whitening(X, "shrunk").rank == 4  # 5 rows differ along 4 axes
    assert fit_whitening(X, "shrunk", shrinkage=0.5).shrinkage == 0.5
    with pytest.raises(ValueError, match=r"shrinkage=0\.0"):
        fit_whitening(X, "shrunk", shrinkage=0)


def through_the_covariance(X, method, rank):
    """Return rows whitened by eigenvectors of the d x d matrix, and the weight of shrinking."""
    centred = X - X.mean(axis=0)
    covariance = centred.T @ centred / len(X)
    if method == "exact" and rank is None:
        return None
    variances, vectors = (part[..., ::-1] for part in np.linalg.eigh(covariance))
    kept = slice(rank)
    variances, vectors = np.maximum(variances, 0)[kept], vectors[:, kept]
    weight = 0.0
    if method == "shrunk":
        scores = centred @ vectors
        _, weight = ledoit_wolf(scores, assume_centered=True)
        variances = (1 - weight) * variances + weight * variances.mean()
    elif method == "none":
        variances = np.full_like(variances, variances.mean())
    return centred @ vectors / np.sqrt(variances), weight


@pytest.mark.parametrize("rank", [None, 3, 8])
@pytest.mark.parametrize("method", ["exact", "shrunk", "none"])
@pytest.mark.parametrize("shape", [(12, 30), (29, 30), (40, 300), (12, 13)])
def test_fewer_rows_than_columns_are_whitened_as_through_the_covariance(shape, method, rank):
    if method == "exact" and rank is None:
        pytest.skip("is refused: whitened, every direction would look alike")
    X = table(*shape) * np.random.default_rng(1).uniform(0.5, 3, shape[1])
    whitening = fit_whitening(X, method, rank=rank)
    expected, weight = through_the_covariance(X, method, rank)
    assert_allclose(whitening.shrinkage, weight, rtol=1e-9)
    Z = whitening.apply(X)
    assert Z.shape[1] == (rank or shape[0] - 1)
    assert_allclose(Z @ Z.T, expected @ expected.T, rtol=1e-8, atol=1e-9)  # all that is seen
    U = np.random.default_rng(2).standard_normal((4, Z.shape[1]))
    scores = (X - whitening.mean) @ whitening.column_weights(U).T
    parallel = np.sum(scores * (Z @ U.T), axis=0) / np.linalg.norm(scores, axis=0)
    assert_allclose(parallel, np.linalg.norm(Z @ U.T, axis=0), rtol=1e-10)


@pytest.mark.parametrize("method", ["shrunk", "none"])
def test_a_wide_table_has_the_same_bits_on_any_threads_and_from_anywhere(method):
    X = table(60, 200).astype(np.float32)
    lazy = StoredRows(lambda start, stop: X[start:stop], X.shape, X.dtype)
    found = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads):
            found += [fit_whitening(rows, method) for rows in (X, lazy)]
    for one in found[1:]:
        np.testing.assert_array_equal(one.matrix, found[0].matrix)
        np.testing.assert_array_equal(one.mean, found[0].mean)


def test_a_wide_table_of_few_varying_columns_and_of_copied_rows():
    X = np.zeros((9, 50))
    X[:, :4] = table(9, 4)
    with pytest.warns(UserWarning, match="46 constant"):
        assert fit_whitening(X, "none").rank == 4
    copied = np.repeat(table(5, 50), 3, axis=0)
    assert fit_whitening(copied, "none").rank == fit_whitening(copied, "shrunk").rank == 4


def test_a_wide_table_of_any_scale_and_offset():
    X = table(10, 40)
    plain = fit_whitening(X, "none").apply(X)
    for rows, precision in ((X * 1e-200, 1e-12), (X * 1e200, 1e-12), (X + 1e8, 1e-6)):
        Z = fit_whitening(rows, "none").apply(rows)
        assert_allclose(Z @ Z.T, plain @ plain.T, atol=precision)


def test_none_keeps_the_geometry_and_divides_by_one_number():
    X = table()
    Z = fit_whitening(X, "none").apply(X)
    centred = X - X.mean(axis=0)
    assert_allclose(Z, centred / np.sqrt(centred.var(axis=0).mean()), rtol=1e-12, atol=1e-13)
    truncated = fit_whitening(X, "none", rank=2)
    assert_allclose(truncated.apply(X).var(axis=0).mean(), 1)
    assert truncated.rank == 2


@pytest.mark.parametrize("method", METHODS)
def test_library_and_dtype_are_kept(method, xp):
    X = table().astype(np.float32)
    whitening = fit_whitening(xp.asarray(X), method)
    Z = whitening.apply(xp.asarray(X))
    assert type(Z) is type(xp.asarray(X))
    assert Z.dtype == xp.float32
    assert_allclose(to_numpy(Z), fit_whitening(X, method).apply(X), atol=3e-5)
    weights = whitening.column_weights(xp.asarray(np.eye(6, dtype=np.float32)))
    assert weights.dtype == xp.float32


def test_too_few_rows_are_refused_with_the_remedy():
    with pytest.raises(ValueError, match=r"n_samples = 6 rows of numerical rank 5.*shrunk"):
        fit_whitening(table(n=6))
    with pytest.raises(ValueError, match="rank=5 is more than the 6 rows support"):
        fit_whitening(table(n=6), rank=5)
    with pytest.raises(ValueError, match="1 row"):
        fit_whitening(np.ones((1, 3)))
    with pytest.raises(ValueError, match="all equal"):
        fit_whitening(np.full((9, 3), 0.1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "zca"}, "whiten='zca' is unknown; choose from 'exact', 'shrunk', 'none'"),
        ({"rank": 0}, "rank=0 must be a whole number from 1 to 6"),
        ({"rank": 7}, "rank=7"),
        ({"shrinkage": 0.1}, "goes with whiten='shrunk'"),
        ({"method": "shrunk", "shrinkage": 1.5}, r"shrinkage=1\.5"),
        ({"tolerance": -1.0}, r"tolerance=-1\.0"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        fit_whitening(table(), **options)


def test_a_tolerance_cuts_small_axes():
    X = table() * [1, 1, 1, 1, 1, 1]
    X[:, 5] = X[:, 0] + 1e-5 * X[:, 5]
    assert fit_whitening(X).rank == 6
    assert fit_whitening(X, tolerance=1e-6).rank == 5


def test_har_has_effective_rank_470_of_561(data_home):
    X = np.loadtxt(data_home / "uci-har" / "train" / "X_train.txt.xz")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whitening = fit_whitening(X)
    assert whitening.rank == 470
    Z = whitening.apply(X)
    assert np.abs(Z.T @ Z / len(Z) - np.eye(470)).max() < 1e-5
