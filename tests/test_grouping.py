"""Views of a small group: their units, and turns that sharpen them."""

import numpy as np
from numpy.testing import assert_allclose
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from sightline.grouping import part_whitening, sharpen, view_along


def group_of(n=600, d=6, size=30, shift=8.0, seed=0):
    """Rows of which the first `size` are shifted along the first column."""
    rows = np.random.default_rng(seed).standard_normal((n, d))
    rows[:size, 0] += shift
    return rows, np.arange(n) < size


def tilted(d=6, degrees=35):
    direction = np.zeros(d)
    direction[:2] = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return direction


def likelihood(view, rows):
    return float(view.mixture.log_likelihood(view.standard(rows))[0])


def test_a_view_is_in_the_units_of_the_scores():
    rows, group = group_of()
    view = view_along(rows, np.eye(6)[0], 5)
    assert np.array_equal(rows[:, 0] > view.threshold, group)
    assert_allclose(view.group_mean, rows[group, 0].mean(), rtol=0.01)
    moved = view_along(1000 * rows + 7, np.eye(6)[0], 5)
    assert_allclose(moved.threshold, 1000 * view.threshold + 7, rtol=1e-9)
    assert_allclose(moved.standard(1000 * rows + 7), view.standard(rows), atol=1e-9)


def test_scores_that_are_all_equal_show_no_group():
    assert view_along(np.ones((50, 3)), np.eye(3)[0], 5) is None


def test_sharpening_comes_to_fishers_discriminant():
    rows, group = group_of()
    view = view_along(rows, tilted(), 5)
    whitening = part_whitening(rows)
    sharp = sharpen(rows, view, 5, whitening)
    assert likelihood(sharp, rows) > likelihood(view, rows)
    assert np.array_equal(rows @ sharp.direction > sharp.threshold, group)
    fisher = LinearDiscriminantAnalysis(solver="eigen").fit(rows, group).coef_[0]
    assert_allclose(sharp.direction, fisher / np.linalg.norm(fisher), atol=1e-6)


def test_a_view_that_no_turn_improves_is_kept():
    rows, _ = group_of()
    whitening = part_whitening(rows)
    sharp = sharpen(rows, view_along(rows, tilted(), 5), 5, whitening)
    assert likelihood(sharpen(rows, sharp, 5, whitening), rows) >= likelihood(sharp, rows)


def test_stragglers_do_not_hold_a_group_back():
    """Eleven rows far out and four between, as in the component that showed this first."""
    rows, _ = group_of(n=1100, d=20, size=11, shift=30.0)
    rows[11:15, 1] += 12.0
    towards = np.zeros(20)
    towards[:2] = 0.8, 0.6
    view = view_along(rows, towards, 5)
    assert np.count_nonzero(rows @ towards > view.threshold) >= 15
    sharp = sharpen(rows, view, 5, part_whitening(rows))
    assert np.flatnonzero(rows @ sharp.direction > sharp.threshold).tolist() == list(range(11))


def test_a_part_of_few_rows_is_shrunk_and_one_of_many_is_not():
    rows, _ = group_of()
    assert part_whitening(rows).method == "exact"
    assert part_whitening(rows[:29]).method == "shrunk"
    repeated = np.repeat(rows[:, :2], 3, axis=1)[:29]  # rank 2: rows enough
    assert part_whitening(repeated).method == "exact"
