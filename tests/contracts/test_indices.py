"""The laws of every index: those registered, both signs of LogCosh, and ones that users write."""

import array_api_strict
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sightline._arrays import device_of, like, namespace, to_numpy, wide_dtype
from sightline.indices import (
    INDICES,
    Index,
    LogCosh,
    check_derivative,
    make_index,
)
from sightline.sphere import random_directions
from sightline.sums import index_gradients, index_sums, index_values


class Cubic:
    """As short as a user can be: one method, nothing declared."""

    def value_slope(self, t, xp):
        square = t * t
        return square * t / 3, square


class Bend:
    """Value and slope apart, a name, and a number where an index may have a method."""

    name, weights, even = "bend", 0.5, True

    def value(self, t, xp):
        return xp.sqrt(1 + t * t)

    def slope(self, t, xp):
        return t / xp.sqrt(1 + t * t)


class FourthOverSquare:
    """Two features and their combination: (mean t^4) / (mean t^2)^2."""

    n_features, even = 2, True

    def value_slope(self, t, xp):
        square = t * t
        return xp.stack((square, square * square)), xp.stack((2 * t, 4 * square * t))

    def combine(self, means, xp):
        return means[1, ...] / means[0, ...] ** 2

    def weights(self, means, xp):
        second, fourth = means[0, ...], means[1, ...]
        return xp.stack((-2 * fourth / second**3, 1 / second**2))


class Welsch(Index):
    """A subclass that writes value and slope together."""

    name, even = "welsch", True

    def value_slope(self, t, xp):
        bell = xp.exp(-0.5 * t * t)
        return -bell, t * bell


REGISTERED = [kind() for kind in INDICES.values()]
WRITTEN = [make_index(written) for written in (Cubic(), Bend(), FourthOverSquare(), Welsch())]
EVERY = [*REGISTERED, LogCosh(1), LogCosh(1, scale=20), LogCosh(-1, scale=0.5), *WRITTEN]
CLIMBING = [index for index in EVERY if not index.whole_sample]


def shown(index):
    return index.name if index.name not in INDICES else repr(index)


every_index = pytest.mark.parametrize("index", EVERY, ids=shown)
climbing_index = pytest.mark.parametrize("index", CLIMBING, ids=shown)
SEEDS = st.integers(0, 2**32)
few = settings(max_examples=10)  # times every index


def table(seed, rows=40, columns=4, dtype=float):
    """Skewed columns: an index that sees asymmetry has something to see."""
    rng = np.random.default_rng(seed)
    return rng.standard_exponential((rows, columns)).astype(dtype) - dtype(0.5)


def starts(seed, count=3, columns=4, dtype=float):
    return random_directions(count, columns, np.random.default_rng(seed + 1)).astype(dtype)


def assert_close(got, expected, tolerance=1e-11):
    expected = np.asarray(expected)
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * np.abs(expected).max())


class TestDerivative:
    @climbing_index
    def test_the_librarys_own_check_passes(self, index):
        check_derivative(index)
        assert make_index(index, check=True) is index

    @climbing_index
    @few
    @given(size=st.floats(0.01, 6), sign=st.sampled_from([-1, 1]))
    def test_a_slope_is_the_limit_of_differences(self, index, size, sign):
        step = 1e-5
        t = np.array([sign * size])
        rise = (index.value(t + step, np) - index.value(t - step, np)) / (2 * step)
        # h^2 / 6 of the third derivative (20^2 for the sharpest) and rounding of values to 1300.
        np.testing.assert_allclose(index.slope(t, np), rise, rtol=1e-7, atol=1e-7)

    @climbing_index
    @few
    @given(seed=SEEDS)
    def test_the_gradient_is_that_of_the_value(self, index, seed):
        X, u = table(seed), starts(seed)
        assume(np.abs(X @ u.T).min() > 1e-4)  # no kink of |t| between the two points
        gradient, step = index_gradients(index, u, X), 1e-6
        for column in np.eye(4):
            rise = index_values(index, u + step * column, X) - index_values(
                index, u - step * column, X
            )
            expected = gradient @ column
            np.testing.assert_allclose(rise / (2 * step), expected, rtol=1e-5, atol=1e-5)

    @climbing_index
    def test_value_and_slope_together_are_the_same_as_apart(self, index):
        t = np.linspace(-3, 3, 24).reshape(2, 3, 4)
        value, slope = index.value_slope(t, np)
        np.testing.assert_array_equal(value, index.value(t, np))
        np.testing.assert_array_equal(slope, index.slope(t, np))


class TestSymmetries:
    @climbing_index
    @few
    @given(seed=SEEDS, cuts=st.sets(st.integers(1, 39), max_size=6))
    def test_sums_merge_over_any_split_of_the_rows(self, index, seed, cuts):
        X, u = table(seed), starts(seed)
        whole = index_sums(index, u, X, slopes=True)
        first, *others = (
            index_sums(index, u, rows, slopes=True) for rows in np.split(X, sorted(cuts))
        )
        merged = sum(others, start=first)
        assert merged.count == whole.count == 40
        assert_close(merged.values, whole.values)
        assert_close(merged.slopes, whole.slopes)

    @every_index
    @few
    @given(seed=SEEDS)
    def test_rotated_rows_and_directions_keep_the_value_and_rotate_the_gradient(self, index, seed):
        X, u = table(seed), starts(seed)
        Q = np.linalg.qr(starts(seed + 7, 4))[0]
        assert_close(index_values(index, u @ Q, X @ Q), index_values(index, u, X))
        if not index.whole_sample:
            expected = index_gradients(index, u, X) @ Q
            assert_close(index_gradients(index, u @ Q, X @ Q), expected)

    @every_index
    @few
    @given(seed=SEEDS)
    def test_the_order_of_rows_says_nothing(self, index, seed):
        X, u = table(seed), starts(seed)
        mixed = np.random.default_rng(seed).permutation(X)
        assert_close(index_values(index, u, mixed), index_values(index, u, X))
        if not index.whole_sample:
            assert_close(index_gradients(index, u, mixed), index_gradients(index, u, X))

    @every_index
    @few
    @given(seed=SEEDS)
    def test_all_starts_at_once_are_each_alone(self, index, seed):
        X, u = table(seed), starts(seed, 5)
        alone = [index_values(index, start[None], X)[0] for start in u]
        assert_close(index_values(index, u, X), alone)
        if not index.whole_sample:
            alone = [index_gradients(index, start[None], X)[0] for start in u]
            assert_close(index_gradients(index, u, X), alone)

    @every_index
    @few
    @given(seed=SEEDS)
    def test_an_even_index_does_not_see_the_sign(self, index, seed):
        X, u = table(seed), starts(seed)
        if index.even:
            assert_close(index_values(index, -u, X), index_values(index, u, X))
        if index.even and not index.whole_sample:
            assert_close(index_gradients(index, -u, X), -index_gradients(index, u, X))

    @pytest.mark.parametrize("index", [index for index in EVERY if not index.even], ids=shown)
    def test_an_index_that_is_not_even_does(self, index):
        # Along a skewed column alone the two sides differ for certain.
        X, u = table(0, rows=1000), np.eye(4)
        assert np.all(np.abs(index_values(index, u, X) - index_values(index, -u, X)) > 0.1)


class TestNumbers:
    @every_index
    @pytest.mark.parametrize("precision", ["float32", "float64"])
    def test_library_and_dtype_are_kept(self, index, precision, xp):
        kinds = xp.__array_namespace_info__().dtypes(kind="real floating")
        if precision not in kinds:
            pytest.skip(f"the library has no {precision}")
        X = xp.asarray(table(0, rows=1100), dtype=kinds[precision])
        u = like(starts(0), X)
        values = index_values(index, u, X)
        assert (namespace(values), values.dtype, values.shape) == (xp, wide_dtype(X), (3,))
        host = (to_numpy(u).astype(float), to_numpy(X).astype(float))
        np.testing.assert_allclose(to_numpy(values), index_values(index, *host), rtol=2e-5)
        if not index.whole_sample:
            gradient = index_gradients(index, u, X)
            assert (namespace(gradient), gradient.dtype) == (xp, X.dtype)
            assert_close(to_numpy(gradient), index_gradients(index, *host), 2e-5)

    @climbing_index
    def test_the_device_is_kept(self, index):
        device = array_api_strict.Device("device1")
        X = array_api_strict.asarray(table(0), device=device)
        u = array_api_strict.asarray(starts(0), device=device)
        assert device_of(index_values(index, u, X)) == device
        assert device_of(index_gradients(index, u, X)) == device

    @climbing_index
    def test_float32_rows_lose_nothing_that_matters(self, index):
        # Measured on seeds 0 to 2: values differ by at most 1e-7 of themselves, gradients by 9e-8.
        X, u = table(0, 100_000, dtype=np.float32), starts(0, dtype=np.float32)
        wide = (u.astype(float), X.astype(float))
        values, gradients = index_values(index, *wide), index_gradients(index, *wide)
        np.testing.assert_allclose(index_values(index, u, X), values, rtol=1e-6)
        error = np.linalg.norm(index_gradients(index, u, X) - gradients, axis=1)
        assert np.all(error <= 1e-6 * np.linalg.norm(gradients, axis=1))

    @every_index
    def test_scores_up_to_1e30_have_finite_values(self, index):
        sizes = 10.0 ** np.arange(-30, 31)
        X, u = np.concatenate([-sizes, sizes, [0.0]])[:, None], np.ones((1, 1))
        assert np.all(np.isfinite(index_values(index, u, X)))
        if not index.whole_sample:
            assert np.all(np.isfinite(index_gradients(index, u, X)))

    @pytest.mark.parametrize("index", REGISTERED, ids=shown)
    def test_float32_has_a_largest_score(self, index):
        # A power of the score, times the row and summed over a block of 1024 rows, has to stay
        # under 3e38: t^2, t^3, t^4, and t^8 for the gradient of the entropy, do up to these sizes.
        # Those that grow as |t| have no limit. Past it values and gradients are not finite.
        largest = {"relu2": 1e17, "skewness": 1e11, "kurtosis": 1e8, "approx-entropy": 1e4}
        size, u = largest.get(index.name, 1e30), np.ones((1, 1), dtype=np.float32)
        X = np.full((1024, 1), size, dtype=np.float32)
        X[::2] *= -1
        assert np.all(np.isfinite(index_values(index, u, X)))
        if not index.whole_sample:
            assert np.all(np.isfinite(index_gradients(index, u, X)))
        if index.name in largest:
            with np.errstate(over="ignore", invalid="ignore"):
                beyond = index_values(index, u, X / X * np.float32(1e30))
            assert not np.any(np.isfinite(beyond))


class TestContract:
    @climbing_index
    @pytest.mark.parametrize("shape", [(7,), (5, 3), (2, 3, 4), (0, 2)])
    def test_scores_of_any_shape_keep_it(self, index, shape):
        t = np.random.default_rng(0).standard_normal(shape)
        features = (index.n_features, *shape) if index.n_features > 1 else shape
        assert index.value(t, np).shape == index.slope(t, np).shape == features

    @climbing_index
    def test_scores_are_read_and_never_written(self, index):
        t = np.linspace(-2, 2, 9)
        t.setflags(write=False)  # whoever writes here is stopped by NumPy
        value, slope = index.value_slope(t, np)
        assert not np.shares_memory(value, slope)
        assert not any(np.shares_memory(t, part) for part in (value, slope))

    @climbing_index
    @pytest.mark.parametrize("precision", ["float32", "float64"])
    @pytest.mark.parametrize("rows", [1, 31, 100])
    @pytest.mark.parametrize("with_slope", [False, True])
    def test_sums_over_rows_and_slopes_in_given_memory(self, index, precision, rows, with_slope):
        t = 3 * np.random.default_rng(rows).standard_normal((rows, 4)).astype(precision)
        t[0] = 0, 40, -40, 1e-3
        shape = index.n_features, *t.shape
        value, slope = (np.reshape(part, shape) for part in index.value_slope(t.astype(float), np))
        given = np.full(shape, np.nan, precision) if with_slope else None
        sums = index.sums(t.copy(), np.empty(shape, precision), given)
        assert sums.shape == (index.n_features, 4)
        assert sums.dtype == np.float64
        # log cosh of a score near zero is the difference of terms of size 1: 8 units of each row.
        unit = np.finfo(precision).eps
        size = np.abs(value).sum(axis=1)
        assert np.all(np.abs(sums - value.sum(axis=1)) <= unit * (8 * rows + 50 * size))
        if given is not None:
            np.testing.assert_allclose(given, slope, rtol=50 * unit, atol=4 * unit)

    @climbing_index
    def test_means_combine_to_one_value_a_start(self, index):
        means = np.abs(np.random.default_rng(0).standard_normal((index.n_features, 5)))
        assert index.combine(means, np).shape == (5,)
        assert index.weights(means, np).shape == means.shape
        if not index.combines:
            np.testing.assert_array_equal(index.combine(means, np), means[0])
            np.testing.assert_array_equal(index.weights(means, np), np.ones((1, 5)))

    @every_index
    def test_the_value_of_a_sample_is_the_value_of_its_rows(self, index):
        X, u = table(0), starts(0)
        assert_close(index.value_of_sample(X @ u.T, np), index_values(index, u, X))

    def test_an_index_of_several_means_says_so_by_having_a_combination(self):
        assert {index.name for index in EVERY if index.combines} == {
            "approx-entropy",
            "FourthOverSquare",
        }
