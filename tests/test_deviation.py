"""Robust deviations: closed forms, scales, ties, and what the two factors see."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, stats

from sightline.deviation import automatic_threshold, fit_deviations, fit_outlyingness
from sightline.whitening import fit_whitening


def normal_quantiles(n=2001):
    return stats.norm.ppf((np.arange(n) + 0.5) / n)


def fitted(X, directions=None):
    whitening = fit_whitening(X)
    chosen = np.eye(whitening.rank) if directions is None else directions
    return fit_outlyingness(X, whitening, chosen)


def test_normal_scores_have_their_own_deviations():
    quantiles = normal_quantiles()
    deviations = fit_deviations(5 + 3 * quantiles[:, None])
    assert_allclose(deviations.centre, 5, atol=1e-9)
    assert_allclose(deviations.spread, 3, rtol=1e-3)
    assert_allclose(deviations.of(np.array([[5.0], [11.0], [-4.0]]))[:, 0], [0, 2, 3], rtol=1e-3)


def test_outliers_up_to_half_leave_the_others_where_they_are():
    """A third of the scores a million away: the standard deviation would be 5e5.

    The median is the upper quartile q of the others, and half of all scores are within m of it:
    Phi(q + m) - Phi(q - m) = 3/4.
    """
    scores = np.concatenate((normal_quantiles(1000), np.full(500, 1e6)))[:, None]
    deviations = fit_deviations(scores)
    q, cdf = stats.norm.ppf(0.75), stats.norm.cdf
    within = optimize.brentq(lambda m: cdf(q + m) - cdf(q - m) - 0.75, 0, 5)
    assert_allclose(deviations.spread, 1.4826 * within, rtol=0.01)
    assert deviations.of(scores)[1000:].min() > 1e5


def test_a_column_of_mostly_ties_is_measured_in_standard_deviations():
    scores = np.zeros((100, 1))
    scores[:10] = 1.0
    deviations = fit_deviations(scores)
    assert_allclose(deviations.spread, scores.std())
    assert_allclose(deviations.of(scores)[0], 1 / scores.std())


def test_a_constant_column_deviates_nowhere():
    assert fit_deviations(np.full((9, 1), 0.1)).of(np.array([[0.1], [7.0]])).tolist() == [[0], [0]]


def test_outlyingness_is_the_geometric_mean_of_both_factors():
    X = np.random.default_rng(0).standard_normal((300, 3)) @ np.diag([1.0, 5.0, 0.1])
    whitening = fit_whitening(X)
    directions = np.eye(3)[:2]
    found = fit_outlyingness(X, whitening, directions)

    def gaps(scores):
        centred = np.abs(scores - np.median(scores, axis=0))
        return centred / stats.median_abs_deviation(scores, axis=0, scale="normal")

    along = np.sqrt(np.mean(gaps(whitening.apply(X)[:, :2]) ** 2, axis=1))
    assert_allclose(found.of(X), np.sqrt(along * gaps(X).mean(axis=1)), rtol=1e-4)


def test_units_and_offsets_of_columns_do_not_matter():
    X = np.random.default_rng(1).standard_normal((200, 4))
    scaled = X * [1e-200, 1e200, 3.0, 1.0] + [0.0, 0.0, 1e6, -5.0]
    assert_allclose(fitted(scaled).of(scaled), fitted(X).of(X), rtol=1e-6)


def test_a_constant_column_changes_nothing():
    X = np.random.default_rng(2).standard_normal((100, 3))
    wide = np.c_[X, np.full(100, 7.0)]
    with pytest.warns(UserWarning, match="constant column"):
        found = fitted(wide)
    assert_allclose(found.of(wide), fitted(X).of(X), rtol=1e-9)


def test_a_row_is_judged_alone():
    X = np.random.default_rng(3).standard_normal((50, 3))
    found = fitted(X)
    assert_allclose(np.concatenate([found.of(row[None]) for row in X]), found.of(X), rtol=1e-9)


def test_the_automatic_threshold_is_two_and_a_half_deviations_up():
    assert_allclose(automatic_threshold(10 + 2 * normal_quantiles()), 15, rtol=1e-3)
