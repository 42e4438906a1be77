"""Sums over rows by short runs: exact to the roundings of one run."""

import math

import numpy as np
import pytest

from sightline.short_runs import RUN, run_logarithms, run_sums

ROUNDING_32 = 2.0**-24


@pytest.mark.parametrize("rows", [0, 1, RUN - 1, RUN, RUN + 1, 500])
@pytest.mark.parametrize("leading", [(), (2,)])
def test_sums_of_any_number_of_rows(rows, leading):
    values = np.random.default_rng(rows).standard_exponential((*leading, rows, 3))
    total = run_sums(values)
    assert (total.shape, total.dtype) == ((*leading, 3), np.float64)
    exact = [math.fsum(values[(*place, slice(None), j)]) for *place, j in np.ndindex(total.shape)]
    np.testing.assert_allclose(total.ravel(), exact, rtol=1e-13)


@pytest.mark.parametrize("value", [1 / 3, 0.1, -2 / 3])
def test_float32_is_added_in_runs_alone(value):
    # 31 roundings of a run are at most 31 u of the total; a running sum is off by 5e-3 here.
    column = np.full((2_000_000, 2), value, dtype=np.float32)
    exact = float(column[0, 0]) * len(column)
    assert np.abs(run_sums(column) - exact).max() <= 31 * ROUNDING_32 * abs(exact)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [1, RUN - 1, RUN, 500])
def test_logarithms_of_products_are_sums_of_logarithms(dtype, rows):
    factors = np.random.default_rng(rows).uniform(1, 2, (rows, 3)).astype(dtype)
    factors[:, 0] = 2  # the largest product there is
    exact = [math.fsum(map(math.log, column)) for column in factors.T]
    # Each of 31 multiplications is off by half a unit, which the logarithm turns into u.
    off = np.abs(run_logarithms(factors) - exact)
    assert off.max() <= rows * np.finfo(dtype).eps + 1e-13
    assert run_logarithms(factors)[0] == pytest.approx(rows * math.log(2), rel=1e-15)
