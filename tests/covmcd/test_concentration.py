"""Concentration by its monotone determinant and its fixed point; reweighting by its definition."""

import numpy as np
import pytest
from scipy.stats import chi2

from sightline.covmcd.concentration import robust_scatter, scatter_along, scatter_on_hyperplane
from sightline.covmcd.univariate_mcd import consistency_factor


def contaminated(seed=0, n_rows=200, dimension=4, outliers=40):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n_rows, dimension))
    rows[:outliers] = 0.3 * rows[:outliers] + 5.0
    return rows


def squared_distances(rows, location, covariance):
    offsets = rows - location
    return np.einsum("ij,jk,ik->i", offsets, np.linalg.inv(covariance), offsets)


def concentrated_by_hand(rows, first):
    """Repeat the step until the rows stay, with the determinant of every covariance."""
    bulk, determinants = np.sort(first), []
    while True:
        scatter = np.cov(rows[bulk].T, ddof=0)
        determinants.append(np.linalg.det(scatter))
        nearest = np.argsort(squared_distances(rows, rows[bulk].mean(axis=0), scatter))
        following = np.sort(nearest[: first.size])
        if np.array_equal(following, bulk):
            return bulk, determinants
        bulk = following


@pytest.mark.parametrize("seed", range(5))
def test_concentration_ends_at_its_fixed_point(seed):
    rows = contaminated(seed)
    first = np.arange(60, 162)
    bulk, determinants = concentrated_by_hand(rows, first)
    assert np.all(np.diff(determinants) <= 1e-12)
    scatter = np.cov(rows[bulk].T, ddof=0)
    squared = squared_distances(rows, rows[bulk].mean(axis=0), scatter)
    limit = np.median(squared) / chi2.ppf(0.5, 4) * chi2.ppf(0.975, 4)
    support = squared <= limit
    found = robust_scatter(rows, first)
    np.testing.assert_array_equal(found.support, support)
    np.testing.assert_allclose(found.location, rows[support].mean(axis=0), atol=1e-12)
    expected = np.cov(rows[support].T, ddof=0) * consistency_factor(0.975, 4)
    np.testing.assert_allclose(found.covariance, expected, atol=1e-12)
    np.testing.assert_allclose(
        found.distances, np.sqrt(squared_distances(rows, found.location, expected)), rtol=1e-9
    )
    assert not found.exact_fit


def test_a_hyperplane_met_on_the_way_is_the_answer():
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((100, 3))
    rows[:70, 2] = 0.5 * rows[:70, 0] + 1.0
    found = robust_scatter(rows, np.arange(8, 60))
    assert found.exact_fit
    np.testing.assert_array_equal(found.support, np.arange(100) < 70)
    np.testing.assert_allclose(found.location, rows[:70].mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.covariance, np.cov(rows[:70].T, ddof=0), atol=1e-7)


def test_rows_on_a_hyperplane_have_their_distance_within_it():
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((50, 3))
    rows[:40, 1] = 2.0
    inside = np.arange(50) < 40
    found = scatter_on_hyperplane(rows, np.eye(3)[1], inside)
    flat = rows[:40][:, [0, 2]]
    expected = squared_distances(flat, flat.mean(axis=0), np.cov(flat.T, ddof=0))
    np.testing.assert_allclose(found.distances[:40] ** 2, expected, rtol=1e-9)
    assert np.isinf(found.distances[40:]).all()
    assert np.linalg.matrix_rank(found.covariance) == 2


def test_rows_on_a_point_are_at_distance_zero():
    rows = np.vstack([np.ones((30, 2)), np.arange(8.0).reshape(4, 2)])
    found = scatter_on_hyperplane(rows, np.array([1.0, 0.0]), np.arange(34) < 30)
    np.testing.assert_array_equal(found.distances[:30], 0.0)
    np.testing.assert_array_equal(found.covariance, 0.0)


def test_the_basis_only_chooses_where_concentration_begins():
    rows = contaminated(3)
    rng = np.random.default_rng(4)
    basis = np.linalg.qr(rng.standard_normal((4, 4)))[0]
    along = scatter_along(basis, np.full(4, 0.1), np.array([0.5, 1.0, 2.0, 3.0]), rows, 102)
    first = np.argsort(
        np.sum(((rows @ basis.T - 0.1) / [0.5, 1.0, 2.0, 3.0]) ** 2, axis=1), kind="stable"
    )[:102]
    plain = robust_scatter(rows, first)
    np.testing.assert_array_equal(along.support, plain.support)
    np.testing.assert_allclose(along.location, plain.location, atol=1e-12)
    np.testing.assert_allclose(along.covariance, plain.covariance, atol=1e-12)
    np.testing.assert_allclose(along.distances, plain.distances, rtol=1e-9)


def test_the_support_keeps_the_covariance_of_full_rank():
    rows = np.random.default_rng(5).standard_normal((10, 8))
    found = robust_scatter(rows, np.arange(9))
    assert found.support.sum() >= 9
    assert np.linalg.matrix_rank(found.covariance) == 8
