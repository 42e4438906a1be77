"""Starts: unit rows, independent of how many follow, near the direction where theory says so."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sightline._arrays import to_numpy
from sightline.datasets import BernoulliRademacher, ImbalancedClusters, make_planted
from sightline.starts import STARTS, data_starts, make_starts, moment_starts


def rows(n=300, d=8, seed=0):
    return make_planted(n, d, signal=ImbalancedClusters(0.1), random_state=seed)[0]


@pytest.mark.parametrize("kind", STARTS)
@pytest.mark.parametrize("count", [1, 2, 7, 34])
def test_starts_are_unit_rows_of_the_library_and_dtype(kind, count, xp):
    X = xp.asarray(rows().astype(np.float32))
    starts = make_starts(X, kind, count, np.random.default_rng(0))
    assert type(starts) is type(X)
    assert starts.dtype == xp.float32
    assert tuple(starts.shape) == (count, 8)
    assert_allclose(np.linalg.norm(to_numpy(starts), axis=1), 1, rtol=1e-6)


@pytest.mark.parametrize("kind", ["data", "random", "moments"])
def test_start_i_does_not_depend_on_how_many_follow(kind):
    few = make_starts(rows(), kind, 3, np.random.default_rng(0))
    many = make_starts(rows(), kind, 20, np.random.default_rng(0))
    assert np.array_equal(few, many[:3])


def test_data_starts_are_normalised_rows_each_once():
    X = rows(n=50)
    starts = data_starts(X, 80, np.random.default_rng(0))
    assert starts.shape == (50, 8)
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    inner = starts @ unit.T
    assert sorted(inner.argmax(axis=1)) == list(range(50))
    assert_allclose(inner.max(axis=1), 1)


def test_rows_at_the_origin_are_passed_over():
    X = rows(n=50)
    X[::2] = 0
    assert_allclose(np.linalg.norm(data_starts(X, 20, np.random.default_rng(0)), axis=1), 1)
    with pytest.raises(ValueError, match="origin; use starts='random'"):
        data_starts(np.zeros((5, 3)), 2, np.random.default_rng(0))


def test_a_data_start_of_the_far_cluster_is_as_near_as_the_paper_says():
    """At p = d^-1/2 such a row is at alignment sqrt((1 - p) / (p d)) up to its norm's spread."""
    d, p = 400, 0.05
    X, direction, labels = make_planted(4000, d, signal=ImbalancedClusters(p), random_state=1)
    far = X[labels == 1]
    alignments = (far / np.linalg.norm(far, axis=1, keepdims=True)) @ direction
    expected = np.sqrt((1 - p) / p) / np.sqrt(d - 1 + (1 - p) / p)
    assert_allclose(alignments.mean(), expected, rtol=0.02)
    assert expected > 4 / np.sqrt(d)


def test_the_first_moment_start_points_at_a_skewed_cluster():
    X, direction, _ = make_planted(20000, 5, signal=ImbalancedClusters(0.3), random_state=2)
    starts = moment_starts(X, 2)
    assert starts[0] @ direction > 0.9
    assert_allclose(starts[1], -starts[0])


def test_a_moment_start_points_at_a_symmetric_sparse_direction():
    X, direction, _ = make_planted(20000, 20, signal=BernoulliRademacher(0.1), random_state=3)
    assert np.abs(moment_starts(X, 8) @ direction).max() > 0.9


def test_moments_have_no_more_to_give_than_both_ends_of_two_matrices():
    assert len(moment_starts(rows(), 1000)) == 2 * (1 + 2 * 8)


def test_moment_starts_turn_with_the_rows():
    X = rows(n=2000)
    Q = np.linalg.qr(np.random.default_rng(4).standard_normal((8, 8)))[0]
    ours, turned = moment_starts(X, 10), moment_starts(X @ Q, 10) @ Q.T
    assert_allclose(np.abs(np.sum(ours * turned, axis=1)), 1, atol=1e-8)


def test_moment_starts_of_exactly_symmetric_rows_leave_out_the_vanishing_third_moment():
    X = rows(n=40)
    starts = moment_starts(np.concatenate((X, -X)), 40)
    assert np.isfinite(starts).all()
    assert_allclose(np.linalg.norm(starts, axis=1), 1)


def test_starts_of_ones_own_are_normalised_and_checked():
    own = np.array([[3.0, 0, 0, 4.0, 0, 0, 0, 0]])
    made = make_starts(rows(), own, 400, np.random.default_rng(0))
    assert_allclose(made, own / 5)
    with pytest.raises(ValueError, match="starts have 3 columns; X has 8"):
        make_starts(rows(), np.ones((2, 3)), 1, np.random.default_rng(0))
    with pytest.raises(ValueError, match="starts='grid' is unknown"):
        make_starts(rows(), "grid", 1, np.random.default_rng(0))
