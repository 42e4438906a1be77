"""Bins count every score once, keep rare groups in view, and estimate densities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from sightline.views import bin_scores, smooth_density, view_range

numbers = st.floats(-1e6, 1e6)


@given(st.lists(numbers, min_size=1, max_size=200))
def test_every_score_is_counted_once(scores):
    bins = bin_scores(np.array(scores))
    assert bins.counts.sum() == len(scores)
    assert bins.edges.shape == (bins.counts.size + 1,)
    assert (np.diff(bins.edges) > 0).all()


@given(st.lists(numbers, min_size=1, max_size=200))
def test_the_range_looked_at_has_at_least_98_of_100(scores):
    values = np.array(scores)
    low, high = view_range(values)
    assert low < high
    inside = np.count_nonzero((values >= low) & (values <= high))
    assert inside >= 0.98 * values.size - 1


def test_a_tight_bulk_does_not_push_its_rare_group_out_of_view():
    scores = np.r_[np.random.default_rng(0).normal(0, 1e-4, 4750), np.full(250, 4.0)]
    assert view_range(scores)[1] == 4.0


def test_a_few_rows_far_outside_do_not_squeeze_the_rest():
    scores = np.r_[np.random.default_rng(0).standard_normal(1000), 1e6]
    assert view_range(scores)[1] < 100
    bins = bin_scores(scores)
    assert bins.counts[-1] == 1
    assert np.count_nonzero(bins.counts) > 5


def test_equal_scores_have_a_range_around_them():
    assert view_range(np.full(5, 3.0)) == (1.5, 4.5)
    assert bin_scores(np.zeros(3)).counts.sum() == 3


def test_density_integrates_to_one_and_is_near_the_truth():
    scores = np.random.default_rng(0).standard_normal(100_000)
    span = (-6.0, 6.0)
    density = smooth_density(scores, span)
    step = 12 / density.size
    places = np.linspace(-6, 6, density.size, endpoint=False) + step / 2
    assert density.sum() * step == pytest.approx(1, abs=1e-9)
    # At the peak f = 0.399, with h = 0.09: bias h^2 f / 2 = 0.0016, and a standard deviation of
    # (f / (2 sqrt(pi) n h))^(1/2) = 0.0035. Of some hundred places one in 1500 tests is 4.5 out.
    assert np.abs(density - norm.pdf(places)).max() < 0.0016 + 4.5 * 0.0035


def test_density_of_two_points_has_two_peaks():
    density = smooth_density(np.r_[np.zeros(90), np.ones(10)], (-1.0, 2.0))
    peaks = np.flatnonzero((density[1:-1] > density[:-2]) & (density[1:-1] >= density[2:]))
    assert peaks.size == 2
