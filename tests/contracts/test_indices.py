"""The laws of every index: those registered, both signs of LogCosh, and ones that users write."""

import pickle

import array_api_strict
import numpy as np
import pytest
from diptest import dipstat
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sightline import indices
from sightline._arrays import device_of, like, namespace, to_numpy, wide_dtype
from sightline.indices import (
    INDICES,
    Abs,
    ApproxEntropy,
    Dip,
    Index,
    Kurtosis,
    LogCosh,
    ReLU2,
    check_derivative,
    make_index,
    selection_index,
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

    def test_even_ones_are_declared_and_no_others(self):
        assert {index.name for index in REGISTERED if not index.even} == {"relu2", "skewness"}


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

    def test_a_dip_in_float32_is_off_by_less_than_a_row(self):
        # Rounded scores change places with neighbours; one change of place is 1 / n of the dip.
        X, u = table(0, 100_000, dtype=np.float32), starts(0, dtype=np.float32)
        exact = index_values(Dip(), u.astype(float), X.astype(float))
        np.testing.assert_allclose(index_values(Dip(), u, X), exact, atol=1e-5)

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

    @pytest.mark.parametrize("name", INDICES)
    def test_what_the_registry_says(self, name):
        index = make_index(name)
        assert type(index) is INDICES[name]
        assert index.name == name
        assert index.selection is None or make_index(index.selection) != index
        first, second = index.step_sizes
        assert first >= second > 0

    @pytest.mark.parametrize("index", [*REGISTERED, LogCosh(1, 0.5)], ids=shown)
    def test_an_index_is_its_class_and_options(self, index):
        again = eval(repr(index), vars(indices).copy())  # noqa: S307  (a repr of this library)
        for twin in (again, pickle.loads(pickle.dumps(index))):  # noqa: S301  (written just now)
            assert twin == index
            assert hash(twin) == hash(index)
        others = {*REGISTERED, LogCosh(1, 0.5), LogCosh(1, 2)}
        assert sum(other == index for other in others) == 1
        assert index != index.name

    def test_an_index_of_several_means_says_so_by_having_a_combination(self):
        assert {index.name for index in EVERY if index.combines} == {
            "approx-entropy",
            "FourthOverSquare",
        }


class TestDip:
    @given(seed=SEEDS, rows=st.integers(1, 60))
    def test_it_is_diptests_own(self, seed, rows):
        X, u = table(seed, rows), starts(seed, 4)
        expected = [dipstat(X @ start) for start in u]
        np.testing.assert_allclose(index_values(Dip(), u, X), expected, atol=1e-14)

    def test_the_scores_need_not_be_sorted_nor_are_they_changed(self):
        scores = table(0, 30)
        before = scores.copy()
        expected = [dipstat(np.sort(column)) for column in scores.T]
        np.testing.assert_array_equal(Dip().value_of_sample(scores, np), expected)
        np.testing.assert_array_equal(scores, before)

    def test_float32_scores_have_dips_with_all_digits(self):
        scores = table(0, 30, dtype=np.float32)
        expected = [dipstat(column.astype(float)) for column in scores.T]
        np.testing.assert_array_equal(Dip().value_of_sample(scores, np), expected)

    @pytest.mark.parametrize("rows", [1, 2, 50])
    def test_scores_that_all_agree_are_one_mode(self, rows):
        np.testing.assert_array_equal(
            index_values(Dip(), np.eye(2), np.full((rows, 2), 0.1)), [0.0, 0.0]
        )

    @given(seed=SEEDS, scale=st.floats(0.1, 10), shift=st.floats(-10, 10))
    def test_it_does_not_depend_on_scale_and_place(self, seed, scale, shift):
        t = table(seed)
        moved = Dip().value_of_sample(scale * t + shift, np)
        np.testing.assert_allclose(moved, Dip().value_of_sample(t, np), atol=1e-12)


class TestLogCosh:
    @given(t=st.floats(-700, 700), scale=st.floats(1e-3, 1.0), sign=st.sampled_from([-1, 1]))
    def test_it_is_the_logarithm_of_the_hyperbolic_cosine(self, t, scale, sign):
        # By log1p(2 sinh^2(x / 2)), exact near zero, where log(cosh(x)) has no digits.
        expected = sign * np.log1p(2 * np.sinh(scale * t / 2) ** 2) / scale
        value = LogCosh(sign, scale).value(np.array([t]), np)[0]
        np.testing.assert_allclose(value, expected, rtol=1e-13, atol=1e-15 * abs(t) + 1e-300)

    def test_a_large_scale_is_the_absolute_value(self):
        t = np.linspace(-2, 2, 9)
        np.testing.assert_allclose(LogCosh(1, 1e6).value(t, np), np.abs(t), atol=1e-6)
        np.testing.assert_array_equal(LogCosh(-1, 1e6).slope(t, np), Abs().slope(t, np))

    @pytest.mark.parametrize("sign", [0, 2, "1", None, -1.5])
    def test_its_sign_is_one_or_minus_one(self, sign):
        with pytest.raises(ValueError, match=rf"sign={sign!r} must be -1 .* or 1"):
            LogCosh(sign=sign)

    @pytest.mark.parametrize("scale", [0, -1, 1e-4, 1e7, np.inf, np.nan])
    def test_its_scale_has_a_range(self, scale):
        with pytest.raises(ValueError, match=rf"scale={scale!r} must be .* \[0.001, 1e\+06\]"):
            LogCosh(scale=scale)


class TestWrongDerivatives:
    def check(self, value_slope, **declared):
        written = type("Written", (), {"value_slope": staticmethod(value_slope), **declared})()
        return make_index(written, check=True)

    def test_a_wrong_slope_is_named_with_its_place(self):
        message = "index Written: slope is -9.3 at -3.1, but value rises there at a rate of -6.2;"
        with pytest.raises(ValueError, match=message):
            self.check(lambda t, xp: (t * t, 3 * t))

    def test_a_slope_off_by_a_part_in_a_thousand_is_found(self):
        with pytest.raises(ValueError, match=r"slope is -6\.2062 at -3\.1, but .* rate of -6\.2;"):
            self.check(lambda t, xp: (t * t, 2.002 * t))

    def test_a_slope_wrong_on_one_side_is_found_there(self):
        with pytest.raises(ValueError, match=r"slope is 1 at 1\.1, but .* rate of 0\.5"):
            self.check(lambda t, xp: (0.5 * abs(t), np.where(t > 1.05, 1.0, 0.5 * np.sign(t))))

    def test_a_slope_that_is_no_number_is_wrong(self):
        with pytest.raises(ValueError, match="slope is nan"):
            self.check(lambda t, xp: (t, t / np.where(t > 0, np.nan, np.nan)))

    def test_any_slope_between_both_sides_of_a_kink_is_right(self):
        for at_kink in (-1, 0, 0.5, 1):
            self.check(lambda t, xp, k=at_kink: (abs(t), np.where(abs(t) < 1e-9, k, np.sign(t))))
        with pytest.raises(ValueError, match=r"slope is 1\.5"):
            self.check(lambda t, xp: (abs(t), np.where(abs(t) < 1e-9, 1.5, np.sign(t))))

    def test_the_second_feature_is_looked_at_too(self):
        with pytest.raises(ValueError, match=r"slope is 3\.1 at -3\.1, but .* rate of -6\.2"):
            self.check(
                lambda t, xp: (np.stack((t, t * t)), np.stack((np.ones_like(t), -t))),
                n_features=2,
                combine=lambda self, means, xp: means[0] + means[1],
                weights=lambda self, means, xp: np.ones_like(means),
            )

    def test_wrong_weights_are_named_with_their_place(self):
        class Wrong(ApproxEntropy):
            def weights(self, means, xp):
                return 2 * super().weights(means, xp)

        message = r"weights is 1\.2 at 0\.3, but combine rises there at a rate of 0\.6"
        with pytest.raises(ValueError, match=message):
            make_index(Wrong(), check=True)

    def test_two_features_without_a_combination_are_refused(self):
        class Undeclared(Index):
            n_features = 2

            def value_slope(self, t, xp):
                return xp.stack((t, t)), xp.stack((t, t))

        with pytest.raises(TypeError, match=r"lacks combine\(means, xp\), weights\(means, xp\)\."):
            make_index(Undeclared())

    @pytest.mark.parametrize(
        ("value_slope", "got"),
        [
            (lambda t, xp: (1.0, 2.0), r"\(\)"),
            (lambda t, xp: (t[:-1], t[:-1]), r"\(64,\)"),
            (lambda t, xp: (t[:, None], t[:, None]), r"\(65, 1\)"),
            (lambda t, xp: (np.stack((t, t)), np.stack((t, t))), r"\(2, 65\)"),
        ],
    )
    def test_values_of_another_shape_are_named(self, value_slope, got):
        with pytest.raises(ValueError, match=rf"shape \(65,\) have shape {got}; .*n_features=1"):
            self.check(value_slope)

    def test_what_has_no_slope_has_nothing_to_check(self):
        assert make_index("dip", check=True) == Dip()


def written(**members):
    return type("Written", (), members)()


def subclassed(**members):
    return type("Subclassed", (Index,), members)()


def method(self, scores, xp):
    return scores


class TestMakeIndex:
    def test_by_name_instance_or_object(self):
        assert make_index("relu2") == ReLU2()
        index = LogCosh(sign=1)
        assert make_index(index) is index
        cubic = Cubic()
        assert make_index(cubic) == make_index(cubic) != make_index(Cubic())
        assert make_index(make_index(cubic)) == make_index(cubic)
        assert repr(make_index(cubic)) == repr(cubic)

    def test_a_users_object_is_named_by_itself_or_its_class(self):
        assert make_index(Bend()).name == "bend"
        assert make_index(Cubic()).name == "Cubic"

    def test_what_an_object_declares_is_kept_and_the_rest_has_defaults(self):
        index = make_index(FourthOverSquare())
        assert (index.n_features, index.combines, index.even) == (2, True, True)
        assert (index.selection, index.step_sizes) == (None, Index.step_sizes)

    def test_a_users_whole_sample_index_selects_but_does_not_climb(self):
        class Range:
            whole_sample = True

            def value_of_sample(self, scores, xp):
                return xp.max(scores, axis=0) - xp.min(scores, axis=0)

        index, X = make_index(Range(), check=True), table(0, dtype=np.float32)
        values = index_values(index, np.eye(4, dtype=np.float32), X)
        np.testing.assert_array_equal(values, np.ptp(X, axis=0))
        assert values.dtype == np.float64
        with pytest.raises(ValueError, match="index 'Range' has no slope"):
            index_gradients(index, np.eye(4), X)

    @pytest.mark.parametrize("name", ["relu", "ReLU2", "", "abs "])
    def test_an_unknown_name_is_answered_with_all_names(self, name):
        with pytest.raises(ValueError, match=f"select={name!r} is unknown; choose from 'relu2', "):
            make_index(name, option="select")

    @pytest.mark.parametrize("kind", [ReLU2, Cubic, int])
    def test_a_class_is_not_an_instance(self, kind):
        with pytest.raises(
            TypeError, match=r"index=<class .* is a class; pass an instance.*relu2"
        ):
            make_index(kind)

    SLOPED = r"value_slope\(scores, xp\) \(or both value and slope\)"

    @pytest.mark.parametrize(
        ("spec", "lacking"),
        [
            (None, SLOPED),
            (3, SLOPED),
            (["relu2"], SLOPED),
            (np.square, SLOPED),
            (written(), SLOPED),
            (written(value=method), SLOPED),
            (written(slope=method), SLOPED),
            (written(value=method, slope=0.1), SLOPED),
            (written(value_slope=True), SLOPED),
            (written(whole_sample=True, value_slope=method), r"value_of_sample\(scores, xp\)"),
            (
                written(value_slope=method, n_features=2),
                r"combine\(means, xp\), weights\(means, xp\)",
            ),
            (written(value_slope=method, combines=True, weights=method), r"combine\(means, xp\)"),
            (written(value_slope=method, combine=method), r"weights\(means, xp\)"),
            (written(n_features=3, weights=method), rf"{SLOPED}, combine\(means, xp\)"),
            (subclassed(), SLOPED),
            (subclassed(value=method), SLOPED),
            (subclassed(slope=method), SLOPED),
            (subclassed(whole_sample=True), r"value_of_sample\(scores, xp\)"),
            (subclassed(value_slope=method, combine=method), r"weights\(means, xp\)"),
        ],
    )
    def test_what_an_object_lacks_is_listed(self, spec, lacking):
        with pytest.raises(TypeError, match=rf"index=.* is no index: it lacks {lacking}\. Pass"):
            make_index(spec)


class TestSelection:
    def test_an_index_has_its_own_psi(self):
        assert selection_index(Kurtosis()) == Abs()
        for index in (ReLU2(), Dip(), make_index(Cubic())):
            assert selection_index(index) is index

    def test_the_callers_psi_comes_first(self):
        assert selection_index(Kurtosis(), "dip") == Dip()
        assert selection_index(Kurtosis(), Kurtosis()) == Kurtosis()

    def test_a_wrong_psi_is_named_as_select(self):
        with pytest.raises(ValueError, match="select='max' is unknown"):
            selection_index(ReLU2(), "max")
        with pytest.raises(TypeError, match="select=3 is no index"):
            selection_index(ReLU2(), 3)
