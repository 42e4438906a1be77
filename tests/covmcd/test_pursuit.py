"""The order of the pursuit, its moments by loops, and the geometry of projecting out."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.covmcd import pursuit
from sightline.covmcd.pursuit import (
    moment_directions,
    orthogonal_complement,
    principal_direction,
    pursue,
)
from sightline.covmcd.standardise import standardise


def standard_rows(n_rows, n_columns, seed=0, cluster=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_columns))
    X[:cluster, 0] = 6.0 + 0.3 * X[:cluster, 0]
    return standardise(X, np.finfo(float).eps).rows


def bulk_size(rows):
    return (sum(rows.shape) + 1) // 2


@given(
    st.lists(st.floats(-1, 1), min_size=1, max_size=7).filter(lambda v: np.linalg.norm(v) > 0.1)
)
def test_the_complement_completes_the_direction(parts):
    direction = np.asarray(parts) / np.linalg.norm(parts)
    square = np.column_stack([direction, orthogonal_complement(direction)])
    np.testing.assert_allclose(square.T @ square, np.eye(len(parts)), atol=1e-14)


def test_moments_by_their_definition():
    rng = np.random.default_rng(1)
    rows = rng.exponential(size=(50, 3)) @ rng.standard_normal((3, 3))
    rows -= rows.mean(axis=0)
    inverse = np.linalg.inv(rows.T @ rows / 50)
    third, fourth = np.zeros(3), np.zeros((3, 3))
    for x in rows:
        third += (x @ inverse @ x) * x / 50
        fourth += (x @ inverse @ x) * np.outer(x, x) / 50
    values, axes = np.linalg.eigh(fourth)
    expected = [third / np.linalg.norm(third), axes[:, -1], axes[:, 0]]
    assert values[0] < values[-1]
    for found, wanted in zip(moment_directions(rows), expected, strict=True):
        assert abs(found @ wanted) == pytest.approx(1.0, abs=1e-12)


def test_symmetric_rows_have_no_third_moment():
    corners = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    assert len(moment_directions(corners)) == 2


@pytest.mark.parametrize(("n_rows", "n_columns"), [(200, 7), (60, 1), (9, 8), (40, 12)])
def test_the_directions_are_an_orthonormal_basis(n_rows, n_columns):
    rows = standard_rows(n_rows, n_columns)
    basis = np.stack([one.direction for one in pursue(rows, bulk_size(rows))])
    np.testing.assert_allclose(basis @ basis.T, np.eye(n_columns), atol=1e-12)


def test_scores_are_of_the_rows_in_the_bulk_of_the_directions_before():
    rows = standard_rows(300, 4, cluster=40)
    first, second, third = islice(pursue(rows, bulk_size(rows)), 3)
    np.testing.assert_allclose(first.scores, rows @ first.direction, atol=1e-12)
    left = rows[first.mcd.bulk(first.scores)]
    np.testing.assert_allclose(second.scores, left @ second.direction, atol=1e-12)
    left = left[second.mcd.bulk(second.scores)]
    np.testing.assert_allclose(third.scores, left @ third.direction, atol=1e-12)
    assert not first.mcd.bulk(first.scores)[:40].any()


@pytest.fixture
def searches(monkeypatch):
    """Count the directions that were searched for, rather than filled in from moments."""
    calls = []

    def counted(rows, bulk_size):
        calls.append(rows.shape)
        return principal_direction(rows, bulk_size)

    monkeypatch.setattr(pursuit, "principal_direction", counted)
    return calls


def test_only_the_directions_asked_for_are_searched(searches):
    rows = standard_rows(200, 10)
    list(islice(pursue(rows, bulk_size(rows)), 2))
    assert len(searches) == 2


def test_the_search_ends_after_five_directions_that_look_normal(searches):
    # In many rows the best of few directions of a normal sample still looks normal.
    rows = standard_rows(3000, 6)
    found = list(pursue(rows, bulk_size(rows)))
    assert all(one.looks_normal for one in found[:5])
    assert len(searches) == 5
    assert len(found) == 6


def test_a_cluster_starts_the_count_again(searches):
    rows = standard_rows(3000, 7, cluster=300)
    found = list(pursue(rows, bulk_size(rows)))
    assert not found[0].looks_normal
    assert len(searches) == 6


def test_the_search_ends_when_only_the_bulk_is_left(searches):
    rows = standard_rows(9, 8)
    assert len(list(pursue(rows, bulk_size(rows)))) == 8
    assert len(searches) == 1


def test_the_rest_are_fourth_moment_axes_largest_first(monkeypatch):
    rows = standard_rows(2000, 4, cluster=200)
    rows[:, 2] = np.sign(rows[:, 2]) * np.abs(rows[:, 2]) ** 2  # heavy tails
    rows = standardise(rows, np.finfo(float).eps).rows
    monkeypatch.setattr(pursuit, "_NORMAL_LEAST", 0)
    monkeypatch.setattr(pursuit, "_NORMAL_PART", 0.0)
    basis = np.stack([one.direction for one in pursue(rows, bulk_size(rows))])
    fourth = (rows * np.sum(rows**2, axis=1)[:, None]).T @ rows / len(rows)
    rotated = basis @ fourth @ basis.T
    np.testing.assert_allclose(rotated, np.diag(np.diagonal(rotated)), atol=1e-10)
    assert np.all(np.diff(np.diagonal(rotated)) < 0.0)


def test_rows_that_are_flat_have_that_axis_as_their_direction():
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((50, 4))
    rows[:, 1] = 3.0
    assert abs(principal_direction(rows, 27)[1]) == pytest.approx(1.0)


def test_rows_that_are_all_one_point_still_have_directions():
    (only,) = pursue(np.ones((20, 1)), 11)
    assert only.mcd.exact_fit
    assert only.bimodality == 1.0
