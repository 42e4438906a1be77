"""The exact univariate MCD against every subset, every window, and closed forms."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.covmcd.univariate_mcd import (
    ZERO_SPREAD,
    UnivariateMCD,
    consistency_factor,
    univariate_mcd,
)


def least_variance_of_windows(scores, bulk_size):
    ordered = np.sort(scores)
    starts = range(scores.size - bulk_size + 1)
    return min(ordered[start : start + bulk_size].var() for start in starts)


@st.composite
def scores_and_size(draw):
    scores = draw(st.lists(st.integers(-20, 20), min_size=1, max_size=9))
    return np.asarray(scores, float), draw(st.integers((len(scores) + 1) // 2, len(scores)))


@given(scores_and_size())
def test_no_subset_has_less_variance(case):
    scores, size = case
    found = univariate_mcd(scores, size)
    least = min(np.var(subset) for subset in combinations(scores, size))
    assert found.variance == pytest.approx(least, rel=1e-12, abs=1e-12)
    assert np.unique(found.support).size == size
    assert found.variance == pytest.approx(scores[found.support].var(), abs=1e-12)
    assert found.location == pytest.approx(scores[found.support].mean(), abs=1e-12)


@pytest.mark.parametrize("size", [100, 101, 150, 199, 200])
def test_no_window_has_less_variance(size):
    scores = np.random.default_rng(0).standard_t(2, 200)
    found = univariate_mcd(scores, size)
    assert found.variance == pytest.approx(least_variance_of_windows(scores, size), rel=1e-12)


@given(scores_and_size(), st.integers(-50, 50), st.sampled_from([-4.0, -0.5, 0.25, 8.0]))
def test_moves_and_scales_with_the_scores(case, shift, scale):
    scores, size = case
    found = univariate_mcd(scores, size)
    moved = univariate_mcd(scale * scores + shift, size)
    assert moved.variance == pytest.approx(scale**2 * found.variance, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("far", [1e6, 1e12, -1e12])
def test_an_outlier_costs_no_digits(far):
    near = np.random.default_rng(1).normal(1e-3, 1e-3, 60)
    alone = univariate_mcd(near, 60)
    found = univariate_mcd(np.concatenate([near, far + 1e-3 * np.arange(40)]), 60)
    assert found.variance == pytest.approx(alone.variance, rel=1e-12)
    assert found.location == pytest.approx(alone.location, rel=1e-12)


def test_a_large_offset_costs_only_what_the_scores_have_lost():
    scores = np.random.default_rng(2).standard_normal(101)
    shifted = scores + 1e8
    assert univariate_mcd(shifted, 60).variance == pytest.approx(
        univariate_mcd(shifted - 1e8, 60).variance, rel=1e-12
    )


def test_the_window_without_the_middle_score_keeps_its_digits():
    upper = 1e9 + np.arange(50) / 64.0  # tighter than the lower half, far from its top score
    found = univariate_mcd(np.concatenate([np.arange(50.0), upper]), 50)
    assert found.variance == pytest.approx((50**2 - 1) / 12 / 64**2, rel=1e-12)


def test_equal_scores_have_variance_zero_to_the_last_bit():
    scores = np.concatenate([np.full(60, 0.1), np.linspace(-5, 5, 40)])
    found = univariate_mcd(scores, 55)
    assert found.variance == 0.0
    assert found.exact_fit
    assert found.location == 0.1


def test_the_bulk_is_the_h_and_two_deviations():
    scores = np.concatenate([np.linspace(-1, 1, 81), [1.2, 4.0, -4.0, 30.0]])
    mcd = univariate_mcd(scores, 43)
    inside = mcd.bulk(scores)
    reach = 2.0 * np.sqrt(mcd.robust_variance)
    assert inside[mcd.support].all()
    np.testing.assert_array_equal(scores[inside], scores[np.abs(scores - mcd.location) <= reach])


def test_the_bulk_holds_the_h_however_far_they_reach():
    scores = np.array([0.0, 0.0, 0.0, 0.0, 5.0, 9.0])
    assert univariate_mcd(scores, 5).bulk(scores)[:5].all()


def test_rows_within_rounding_of_an_exact_fit_are_in_its_bulk():
    scores = np.concatenate([np.zeros(60), np.full(20, ZERO_SPREAD), np.full(20, 1e-6)])
    np.testing.assert_array_equal(univariate_mcd(scores, 55).bulk(scores), scores < 1e-9)


def test_robust_variance_is_right_for_normal_scores():
    # The relative standard error at n = 200000 is about sqrt(2 / (0.06 n)) = 1.3%.
    scores = 3.0 * np.random.default_rng(3).standard_normal(200_000)
    for fraction in (0.5, 0.75, 1.0):
        mcd = univariate_mcd(scores, int(fraction * scores.size))
        assert mcd.robust_variance == pytest.approx(9.0, rel=0.04)


@pytest.mark.parametrize("fraction", [0.5, 0.75, 0.975])
def test_consistency_in_two_dimensions_has_a_closed_form(fraction):
    # chi2_2 is exponential: q = -2 log(1 - f), and P(chi2_4 <= q) = 1 - exp(-q/2) (1 + q/2).
    tail = 1.0 - fraction
    expected = fraction / (1.0 - tail * (1.0 - np.log(tail)))
    assert consistency_factor(fraction, 2) == pytest.approx(expected, rel=1e-10)


def test_the_whole_sample_needs_no_correction():
    assert consistency_factor(1.0) == 1.0
    whole = UnivariateMCD(0.0, 2.5, np.arange(7), 7)
    assert whole.robust_variance == 2.5


@pytest.mark.parametrize("size", [0, 4, 11])
def test_h_out_of_range_is_refused(size):
    with pytest.raises(ValueError, match=f"bulk_size={size} must be a whole number from 5 to 10"):
        univariate_mcd(np.arange(10.0), size)
