"""How an index is asked for: by name, as an instance, as any object with the methods."""

import pickle

import numpy as np
import pytest

from sightline import indices
from sightline.indices import (
    INDICES,
    Abs,
    Dip,
    Index,
    Kurtosis,
    LogCosh,
    ReLU2,
    make_index,
    selection_index,
)
from sightline.sums import index_gradients, index_values

REGISTERED = [kind() for kind in INDICES.values()]


class Cubic:
    def value_slope(self, t, xp):
        return t * t * t / 3, t * t


class Named(Cubic):
    name, even, step_sizes = "cubic", False, (0.1, 0.01)


class Pair:
    n_features, even = 2, True

    def value_slope(self, t, xp):
        return xp.stack((t * t, t * t)), xp.stack((2 * t, 2 * t))

    def combine(self, means, xp):
        return means[0, ...] + means[1, ...]

    def weights(self, means, xp):
        return xp.ones_like(means)


class TestRegistry:
    @pytest.mark.parametrize("name", INDICES)
    def test_what_the_registry_says(self, name):
        index = make_index(name)
        assert type(index) is INDICES[name]
        assert index.name == name
        assert index.selection is None or make_index(index.selection) != index
        first, second = index.step_sizes
        assert first >= second > 0

    @pytest.mark.parametrize("index", [*REGISTERED, LogCosh(1, 0.5)], ids=repr)
    def test_an_index_is_its_class_and_options(self, index):
        again = eval(repr(index), vars(indices).copy())  # noqa: S307  (a repr of this library)
        for twin in (again, pickle.loads(pickle.dumps(index))):  # noqa: S301  (written just now)
            assert twin == index
            assert hash(twin) == hash(index)
        others = {*REGISTERED, LogCosh(1, 0.5), LogCosh(1, 2)}
        assert sum(other == index for other in others) == 1
        assert index != index.name

    def test_even_ones_are_declared_and_no_others(self):
        assert {index.name for index in REGISTERED if not index.even} == {"relu2", "skewness"}


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
        assert make_index(Named()).name == "cubic"
        assert make_index(Cubic()).name == "Cubic"

    def test_what_an_object_declares_is_kept_and_the_rest_has_defaults(self):
        index = make_index(Pair(), check=True)
        assert (index.n_features, index.combines, index.even) == (2, True, True)
        assert (index.selection, index.step_sizes) == (None, Index.step_sizes)
        assert make_index(Named(), check=True).step_sizes == (0.1, 0.01)

    def test_a_users_whole_sample_index_selects_but_does_not_climb(self):
        class Range:
            whole_sample = True

            def value_of_sample(self, scores, xp):
                return xp.max(scores, axis=0) - xp.min(scores, axis=0)

        index = make_index(Range(), check=True)
        X = np.arange(12, dtype=np.float32).reshape(3, 4) ** 2
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
