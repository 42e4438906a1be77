"""Partial sums: adding in place has the bits of adding, and neither forgets a digit."""

import pickle
from operator import add

import numpy as np
import pytest

from sightline.kernels.partial_sums import Partial
from sightline.lazy import tree_sum


def parts(count, rows=512, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    return [
        Partial(rows, rng.random((2, 5)), rng.standard_normal((2, 7, 5)).astype(dtype))
        for _ in range(count)
    ]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", [1, 2, 7, 8, 9, 40])
def test_in_place_is_the_same_to_the_last_bit(dtype, count):
    plain = tree_sum(parts(count, dtype=dtype), add)
    in_place = tree_sum(parts(count, dtype=dtype), Partial.absorb)
    assert plain.count == in_place.count == 512 * count
    np.testing.assert_array_equal(plain.values, in_place.values)
    np.testing.assert_array_equal(plain.pulls, in_place.pulls)
    assert plain.pulls.dtype == in_place.pulls.dtype
    exact = sum(part.pulls.astype(float) for part in parts(count, dtype=dtype))
    np.testing.assert_allclose(plain.pulls, exact, rtol=0, atol=1e-5 if count > 1 else 0)


def test_adding_changes_neither():
    first, second = parts(2)
    kept = first.pulls.copy(), second.pulls.copy()
    assert not np.shares_memory((first + second).pulls, first.pulls)
    np.testing.assert_array_equal(first.pulls, kept[0])
    np.testing.assert_array_equal(second.pulls, kept[1])


def test_long_sums_are_wide():
    assert tree_sum(parts(8), add).pulls.dtype == np.float32
    assert tree_sum(parts(9), add).pulls.dtype == np.float64


def test_sums_that_came_by_post_are_the_same():
    local, sent = tree_sum(parts(9), add), None
    for part in parts(9):
        arrived = pickle.loads(pickle.dumps(part, protocol=5))  # noqa: S301
        sent = arrived if sent is None else sent + arrived
    expected = local.gradients(np.ones((2, 5)), np.float32)
    np.testing.assert_allclose(sent.gradients(np.ones((2, 5)), np.float32), expected, atol=1e-9)


def test_what_was_not_asked_for_is_missed_aloud():
    with pytest.raises(ValueError, match="not asked for"):
        Partial(1, np.ones((1, 2)), None).gradients(None, np.float32)
