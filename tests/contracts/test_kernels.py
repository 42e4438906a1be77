"""Every kernel, for every registered index: the sums of the plain step, to rounding."""

import numpy as np
import pytest

from sightline.indices import INDICES, Index, LogCosh, ReLU2
from sightline.indices.contract import with_feature_axis
from sightline.kernels.host import HostStep
from sightline.kernels.plain import PlainStep
from sightline.sphere import random_directions

CLIMBING = [kind() for kind in INDICES.values() if not kind.whole_sample]
CLIMBING += [LogCosh(1), LogCosh(-1, scale=3), LogCosh(1, scale=0.5)]
every_index = pytest.mark.parametrize("index", CLIMBING, ids=repr)
both_dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def table(rows, columns, dtype, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.standard_exponential((rows, columns)) - 0.5).astype(dtype)


def starts(count, columns, dtype):
    return random_directions(count, columns, np.random.default_rng(1)).astype(dtype)


@every_index
@both_dtypes
@pytest.mark.parametrize("asked", [(True, True), (True, False), (False, True)])
def test_writing_gives_the_bits_of_returning(index, dtype, asked):
    t = np.random.default_rng(0).standard_normal((60, 7)).astype(dtype)
    t[0] = 0  # the kink
    wanted = [with_feature_axis(index, part, t) for part in index.value_slope(t, np)]
    written = [
        np.full_like(part, np.nan) if ask else None
        for part, ask in zip(wanted, asked, strict=True)
    ]
    before = t.copy()
    index.write(t, *written)
    np.testing.assert_array_equal(t, before)
    for part, expected in zip(written, wanted, strict=True):
        if part is not None:
            np.testing.assert_array_equal(part, expected)


@every_index
@both_dtypes
@pytest.mark.parametrize("count", [1, 9, 700])  # 700 starts are two blocks of starts
@pytest.mark.parametrize("rows", [1, 33, 200])
def test_the_step_on_the_host_is_the_plain_one(index, dtype, count, rows):
    X, u = table(rows, 12, dtype), starts(count, 12, dtype)
    got = HostStep(index, index, u, dtype)(X)
    expected = PlainStep(index, index, u)(X)
    assert got.count == expected.count == rows
    rounding = 2e-6 if dtype == np.float32 else 1e-14
    # A score rounds otherwise in another product, and a sign may turn at a kink.
    for part, reference in ((got.values, expected.values), (got.pulls, expected.pulls)):
        np.testing.assert_allclose(
            part, reference, rtol=0, atol=rounding * np.abs(reference).max()
        )


@both_dtypes
def test_a_subclass_of_a_registered_index_keeps_its_own_formula(dtype):
    class Doubled(ReLU2):
        def slope(self, scores, xp):
            return 2 * super().slope(scores, xp)

    X, u = table(50, 5, dtype), starts(3, 5, dtype)
    pulls = [HostStep(None, index, u, dtype)(X).pulls for index in (ReLU2(), Doubled())]
    assert Doubled.write is Index.write
    np.testing.assert_array_equal(pulls[1], 2 * pulls[0])
