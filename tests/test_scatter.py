"""The streamed centre and scatter against exact arithmetic, and against any cut of the rows."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sightline._arrays import to_numpy
from sightline.scatter import Scatter, scatter_of


def exact_covariance(X):
    """Mean and covariance (divisor n) in rational arithmetic, rounded once at the end."""
    columns = [[Fraction(float(v)) for v in column] for column in X.T]
    n = len(X)
    means = [sum(column) / n for column in columns]
    centred = [[v - m for v in c] for c, m in zip(columns, means, strict=True)]
    covariance = [
        [sum(a * b for a, b in zip(x, y, strict=True)) / n for y in centred] for x in centred
    ]
    return means, covariance


def scaled_covariance(scatter):
    """The covariance in units of 2^exponents, and those exponents."""
    return scatter.covariance(scatter.exponents), scatter.exponents


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200, 1e-300, 1e300])
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_digits_are_kept_at_any_scale_and_offset(scale, offset):
    X = (np.random.default_rng(0).standard_normal((60, 3)) + offset) * scale
    covariance, exponents = scaled_covariance(scatter_of(X))
    means, exact = exact_covariance(X)
    units = [Fraction(2) ** int(e) for e in exponents]
    expected = [[float(exact[i][j] / (units[i] * units[j])) for j in range(3)] for i in range(3)]
    assert_allclose(covariance, expected, rtol=1e-8, atol=1e-8 * np.diag(expected).max())
    assert_allclose(
        scatter_of(X).mean / scale, [float(m / Fraction(scale)) for m in means], rtol=1e-14
    )


def test_columns_of_opposite_scales_live_in_one_matrix():
    X = np.random.default_rng(1).standard_normal((500, 3))
    X[:, 2] += X[:, 0]
    mixed = scatter_of(X * np.array([1e-200, 1.0, 1e200]))
    covariance, _ = scaled_covariance(mixed)
    spread = np.sqrt(np.diag(covariance))
    assert_allclose(
        covariance / np.outer(spread, spread), np.corrcoef(X.T), rtol=1e-10, atol=1e-12
    )


@given(cuts=st.lists(st.integers(1, 299), max_size=4), seed=st.integers(0, 20))
def test_a_merge_equals_the_whole(cuts, seed):
    spreads, offsets = np.array([1, 1e-150, 1e5, 1]), [0, 0, 7, 1e6]
    X = np.random.default_rng(seed).standard_normal((300, 4)) * spreads + offsets
    whole = scatter_of(X)
    pieces = [p for p in np.split(X, sorted(cuts)) if len(p)]
    merged = sum((scatter_of(p) for p in pieces[1:]), scatter_of(pieces[0]))
    common = np.maximum(whole.exponents, merged.exponents)
    assert merged.count == whole.count
    in_spreads = (merged.mean - whole.mean) / spreads
    assert np.all(np.abs(in_spreads) < [1e-14, 1e-14, 1e-14, 1e6 * np.finfo(float).eps])
    ours, theirs = merged.covariance(common), whole.covariance(common)
    unit = np.sqrt(np.outer(np.diag(theirs), np.diag(theirs)))
    # The last column lies 10^6 spreads from zero: its mean is held to 10^6 epsilon of a spread.
    assert np.abs((ours - theirs) / unit).max() < 1e6 * np.finfo(float).eps
    assert np.abs((ours - theirs) / unit)[:3, :3].max() < 1e-14


def test_constant_columns_are_those_with_one_value():
    X = np.random.default_rng(2).standard_normal((50, 4))
    X[:, 1] = 0.1  # its mean is not exactly 0.1: a variance test would be fooled
    X[:, 3] = 1e300
    assert scatter_of(X).constant.tolist() == [False, True, False, True]
    assert (scatter_of(X[:20]) + scatter_of(X[20:])).constant.tolist() == [
        False,
        True,
        False,
        True,
    ]


def test_a_column_that_is_constant_in_each_part_is_not_constant():
    merged = scatter_of(np.full((5, 1), 3.0)) + scatter_of(np.full((5, 1), 4.0))
    assert not merged.constant[0]
    assert merged.covariance(np.zeros(1, dtype=int))[0, 0] == 0.25


def test_every_library_gives_the_same(xp):
    X = np.random.default_rng(3).standard_normal((5000, 3)).astype(np.float32) + 10
    ours = scatter_of(xp.asarray(X))
    assert isinstance(ours, Scatter)
    covariance = ours.covariance(np.zeros(3, dtype=int))
    assert_allclose(covariance, np.cov(X.T.astype(float), bias=True), rtol=2e-5, atol=1e-4)
    assert_allclose(ours.high, to_numpy(xp.max(xp.asarray(X), axis=0)))


def test_no_rows_is_an_error():
    with pytest.raises(ValueError, match="0 rows"):
        scatter_of(np.empty((0, 3)))
