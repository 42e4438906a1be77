"""Spectral directions: against brute force, laws, what the paper says they find, errors."""

import numpy as np
import pytest
from scipy.linalg import null_space
from threadpoolctl import threadpool_limits

from sightline.spectral import directions as module
from sightline.spectral import spectral_directions, unfolding
from sightline.spectral.unfolding import leading_vector

WAYS = {
    "cov4max": {"method": "cov4max"},
    "cov4min": {"method": "cov4min"},
    "max-skew": {"method": "max-skew"},
    "smallest skew": {"method": "max-skew", "singular": "smallest"},
}
every_way = pytest.mark.parametrize("way", list(WAYS.values()), ids=list(WAYS))


def table(n=400, d=7, seed=0):
    """Columns with clearly different third and fourth moments, mixed by a rotation."""
    rng = np.random.default_rng(seed)
    X = (rng.exponential(size=(n, d)) - 1) * np.linspace(0.6, 1.6, d)
    return X @ rotation(d, seed + 1)


def rotation(d, seed):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((d, d)))[0]


def brute_force(X, method, singular="largest"):
    """Return the direction and value from the explicit matrix, by a full decomposition."""
    n, d = X.shape
    if method == "max-skew":
        T = np.einsum("ni,nj,nk->ijk", X, X, X).reshape(d * d, d) / n
        _, values, right = np.linalg.svd(T, full_matrices=False)
        at = 0 if singular == "largest" else -1
        return right[at], values[at]
    values, vectors = np.linalg.eigh(np.einsum("n,ni,nj->ij", (X**2).sum(1), X, X) / n)
    at = -1 if method == "cov4max" else 0
    return vectors[:, at], values[at]


def brute_force_deflation(X, count, **way):
    """Project each direction out of the rows, in a fresh basis of all that were found so far."""
    found, values = np.zeros((0, X.shape[1])), []
    for _ in range(count):
        basis = null_space(found) if len(found) else np.eye(X.shape[1])
        direction, value = brute_force(X @ basis, **way)
        found = np.vstack([found, basis @ direction])
        values.append(value)
    return found, np.array(values)


def assert_same_lines(first, second, atol=1e-8):
    signs = np.sign(np.sum(first * second, axis=1))
    np.testing.assert_allclose(first, second * signs[:, None], rtol=0, atol=atol)


def planted(n, d, kind, p, seed):
    """Return whitened rows with one planted column, and its direction in their coordinates."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    chosen = rng.random(n) < p
    if kind == "clusters":
        X[:, 0] = np.where(chosen, np.sqrt((1 - p) / p), -np.sqrt(p / (1 - p)))
    else:
        X[:, 0] = chosen * rng.choice([-1.0, 1.0], n) / np.sqrt(p)
    X = (X - X.mean(axis=0)) @ rotation(d, seed + 1)
    values, vectors = np.linalg.eigh(X.T @ X / n)
    signal = (vectors.T @ rotation(d, seed + 1)[0]) * np.sqrt(values)
    return X @ vectors / np.sqrt(values), signal / np.linalg.norm(signal)


@every_way
def test_one_direction_and_its_value_by_brute_force(way):
    X = table()
    direction, value = brute_force(X, **way)
    result = spectral_directions(X, **way)
    assert_same_lines(result.directions, direction[None, :])
    np.testing.assert_allclose(result.values, [value], rtol=1e-10)
    assert result.method == way["method"]


@every_way
def test_rows_along_the_axes_are_found_in_the_order_of_their_length(way):
    # One row a e_j for each axis: the matrices are diagonal, a^4 / n, and a^6 / n^2 for T^T T.
    lengths = np.array([1.5, -1.0, 3.0, 2.0, -2.5])
    order = np.argsort(np.abs(lengths))
    if way in (WAYS["cov4max"], WAYS["max-skew"]):
        order = order[::-1]
    power = 3 if way["method"] == "max-skew" else 4
    result = spectral_directions(np.diag(lengths), n_directions=5, **way)
    np.testing.assert_allclose(result.directions, np.eye(5)[order], atol=1e-12)
    np.testing.assert_allclose(result.values, np.abs(lengths[order]) ** power / 5, rtol=1e-12)


@every_way
@pytest.mark.parametrize("n", [60, 2000])
def test_deflation_by_brute_force_down_to_the_last_direction(way, n):
    X = table(n)
    expected, values = brute_force_deflation(X, 7, **way)
    result = spectral_directions(X, n_directions=7, **way)
    assert_same_lines(result.directions, expected)
    np.testing.assert_allclose(result.values, values, rtol=1e-9)


@every_way
def test_directions_are_orthonormal_with_the_largest_entry_positive(way):
    found = spectral_directions(table(300, 20), n_directions=20, **way).directions
    np.testing.assert_allclose(found @ found.T, np.eye(20), atol=1e-13)
    assert np.all(found.max(axis=1) >= np.abs(found).max(axis=1))


@every_way
def test_a_rotation_of_the_rows_rotates_the_directions(way):
    X, turn = table(500, 12, seed=3), rotation(12, 9)
    plain = spectral_directions(X, n_directions=4, **way)
    turned = spectral_directions(X @ turn, n_directions=4, **way)
    assert_same_lines(turned.directions, plain.directions @ turn)
    np.testing.assert_allclose(turned.values, plain.values, rtol=1e-10)


@every_way
def test_values_scale_with_the_order_of_the_moment(way):
    X = table()
    order = 3 if way["method"] == "max-skew" else 4
    plain = spectral_directions(X, n_directions=3, **way)
    for factor in (1e-6, 1e6):
        scaled = spectral_directions(X * factor, n_directions=3, **way)
        assert_same_lines(scaled.directions, plain.directions)
        np.testing.assert_allclose(scaled.values, plain.values * factor**order, rtol=1e-9)


@every_way
@pytest.mark.parametrize("n", [2000, 12000])  # by pairs, by slices
def test_the_bits_do_not_depend_on_the_number_of_threads(way, n):
    X = table(n, 90)
    results = []
    for threads in (1, 2, 3):
        with threadpool_limits(threads):
            results.append(spectral_directions(X, n_directions=3, **way))
    for other in results[1:]:
        assert np.array_equal(other.directions, results[0].directions)
        assert np.array_equal(other.values, results[0].values)


@every_way
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_library_and_dtype_of_the_rows_are_kept(way, xp, dtype):
    if dtype not in xp.__array_namespace_info__().dtypes(kind="real floating"):
        pytest.skip(f"{xp.__name__} has no {dtype} here")
    X = table(1500)
    expected = spectral_directions(X, n_directions=3, **way)
    rows = xp.asarray(X, dtype=getattr(xp, dtype))
    result = spectral_directions(rows, n_directions=3, **way)
    for part in (result.directions, result.values):
        assert type(part) is type(rows)
        assert part.dtype == rows.dtype
    atol = 1e-4 if dtype == "float32" else 1e-10
    np.testing.assert_allclose(np.asarray(result.directions), expected.directions, atol=atol)
    np.testing.assert_allclose(np.asarray(result.values), expected.values, rtol=atol)


def test_products_and_matrix_agree(monkeypatch):
    X = table(3000, 40)
    by_matrix = spectral_directions(X, "max-skew", 4)
    monkeypatch.setattr(unfolding, "EXPECTED_PRODUCTS", 0)
    monkeypatch.setattr(unfolding, "_RESTART_PRODUCTS", 0.01)  # room to converge
    monkeypatch.setattr(module, "unfolding_gram", None)  # and nothing to fall back on
    by_products = spectral_directions(X, "max-skew", 4)
    assert_same_lines(by_products.directions, by_matrix.directions)
    np.testing.assert_allclose(by_products.values, by_matrix.values, rtol=1e-10)


def test_the_matrix_takes_over_where_products_do_not_decide(monkeypatch):
    monkeypatch.setattr(unfolding, "EXPECTED_PRODUCTS", 0)
    crowded = np.diag(np.linspace(1, 1.01, 60))
    assert leading_vector(crowded) is None
    result = spectral_directions(crowded, "max-skew", 60)
    np.testing.assert_allclose(result.directions, np.eye(60)[::-1], atol=1e-10)


@pytest.mark.parametrize("method", ["cov4max", "max-skew"])
def test_an_outlier_deflated_leaves_the_next_directions_exact(method):
    # Its sixth power is 1e30 times the rest, so nothing of the rest is left in T^T T beside it.
    X = table()
    X[0] = 1e5 * rotation(7, 5)[0]
    expected, values = brute_force_deflation(X, 3, method=method)
    result = spectral_directions(X, method, 3)
    assert_same_lines(result.directions, expected)
    np.testing.assert_allclose(result.values, values, rtol=1e-8)


@pytest.mark.parametrize("way", [WAYS["cov4min"], WAYS["smallest skew"]])
def test_the_smallest_end_beside_a_huge_outlier_is_an_error_not_noise(way):
    X = table()
    X[0] = 1e5 * rotation(7, 5)[0]
    with pytest.raises(ValueError, match="lost in rounding"):
        spectral_directions(X, **way)


RECOVERIES = [  # mean (and least) alignment of the ten when this was written
    ("cov4max", "bernoulli-rademacher", 0.1, 64, 4096),  # 0.979 (0.973)
    ("cov4min", "clusters", 0.5, 20, 8000),  # 0.987 (0.982)
    ("max-skew", "clusters", 0.1, 64, 2048),  # 0.999 (0.998)
]


@pytest.mark.parametrize(("method", "kind", "p", "d", "n"), RECOVERIES)
def test_finds_what_the_paper_says(method, kind, p, d, n):
    found = []
    for seed in range(10):
        X, signal = planted(n, d, kind, p, seed)
        found.append(abs(spectral_directions(X, method).directions[0] @ signal))
    assert np.mean(found) >= 0.95


def test_two_planted_directions_are_both_found_by_deflation():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8000, 30))
    for column, p in enumerate([0.05, 0.1]):
        chosen = rng.random(8000) < p
        X[:, column] = np.where(chosen, np.sqrt((1 - p) / p), -np.sqrt(p / (1 - p)))
    found = np.abs(spectral_directions(X - X.mean(axis=0), "max-skew", 2).directions)
    assert found[0, 0] > 0.98
    assert found[1, 1] > 0.98


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "cov4"}, ValueError, "method='cov4' is unknown; choose from 'cov4max'"),
        ({"method": "max-skew", "singular": "last"}, ValueError, "singular='last' is unknown"),
        ({"singular": "smallest"}, ValueError, "belongs to method='max-skew'"),
        ({"n_directions": 0}, ValueError, "n_directions=0 must be a whole number from 1 to 7"),
        ({"n_directions": 8}, ValueError, "n_directions=8 must be a whole number from 1 to 7"),
        ({"n_directions": 2.0}, TypeError, "n_directions=2.0"),
    ],
)
def test_wrong_options_are_named(options, error, message):
    with pytest.raises(error, match=message):
        spectral_directions(table(), **options)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.zeros((0, 3)), "0 row"),
        (np.ones(3), "table"),
        (np.array([[1.0, np.nan]]), "column 1"),
        (np.zeros((5, 3)), "every entry of X is 0"),
        (table() * 1e300, "whiten"),
        (table() * 1e-300, "whiten"),
        (np.float32(table() * 1e12), "whiten"),
        (np.float32(table() * 1e-12), "whiten"),
    ],
)
def test_wrong_tables_are_named(X, message):
    with pytest.raises(ValueError, match=message):
        spectral_directions(X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("method", ["cov4max", "max-skew"])
@pytest.mark.parametrize(("d", "rank"), [(10, 3), (60, 25), (300, 10)])
def test_rows_that_do_not_span_the_columns_run_out_of_directions(method, dtype, d, rank):
    rng = np.random.default_rng(0)
    X = ((rng.exponential(size=(400, rank)) - 1) @ rng.standard_normal((rank, d))).astype(dtype)
    spectral_directions(X, method, rank)
    with pytest.raises(ValueError, match=f"after {rank} direction.* fewer n_directions"):
        spectral_directions(X, method, rank + 1)


@pytest.mark.parametrize("way", [WAYS["cov4min"], WAYS["smallest skew"]])
def test_the_smallest_end_needs_rows_that_span_the_columns(way):
    with pytest.raises(ValueError, match="whiten it, truncated to its rank"):
        spectral_directions(table(5), **way)


def test_symmetric_rows_have_no_skewness_to_find():
    half = np.random.default_rng(0).standard_normal((700, 5))
    X = np.vstack([half, -half])
    with pytest.raises(ValueError, match="finds no skewness"):
        spectral_directions(X, "max-skew")
