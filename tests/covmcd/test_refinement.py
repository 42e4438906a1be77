"""The climb against the generalised eigenproblem that it solves, and its monotone growth."""

import numpy as np
import pytest
from scipy.linalg import eigh

from sightline.covmcd.refinement import climb, covariance, refine
from sightline.covmcd.univariate_mcd import univariate_mcd


def scatters(seed, dimension=8):
    rng = np.random.default_rng(seed)
    whole = rng.standard_normal((3 * dimension, dimension))
    bulk = rng.standard_normal((3 * dimension, dimension)) * rng.uniform(0.3, 1.0, dimension)
    start = rng.standard_normal(dimension)
    return covariance(whole), covariance(bulk), start / np.linalg.norm(start)


def log_ratio(whole, bulk, direction):
    return np.log((direction @ whole @ direction) / (direction @ bulk @ direction))


@pytest.mark.parametrize("seed", range(10))
def test_the_climb_reaches_the_largest_generalised_eigenvalue(seed):
    whole, bulk, start = scatters(seed)
    top = climb(whole, bulk, start)
    assert np.linalg.norm(top) == pytest.approx(1.0)
    largest = eigh(whole, bulk, eigvals_only=True)[-1]
    assert log_ratio(whole, bulk, top) == pytest.approx(np.log(largest), abs=1e-3)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_the_climb_does_not_depend_on_the_scale_of_either_covariance(scale):
    whole, bulk, start = scatters(3)
    np.testing.assert_allclose(
        climb(scale * whole, bulk / scale, start), climb(whole, bulk, start), atol=1e-6
    )


def test_a_direction_that_cannot_be_bettered_stays():
    whole, bulk, _ = scatters(4)
    top = eigh(whole, bulk)[1][:, -1]
    top /= np.linalg.norm(top)
    np.testing.assert_array_equal(climb(whole, bulk, top), top)
    np.testing.assert_array_equal(climb(bulk, bulk, top), top)


@pytest.mark.parametrize("seed", range(5))
def test_a_flat_bulk_leads_to_its_axis(seed):
    whole, bulk, start = scatters(seed)
    axis = np.eye(8)[3]
    flat = bulk - np.outer(bulk @ axis, axis) - np.outer(axis, bulk @ axis)
    flat += np.outer(axis, axis) * (axis @ bulk @ axis)
    assert abs(climb(whole, flat, start) @ axis) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_refining_never_lowers_the_ratio_and_ends_where_it_cannot_rise(seed):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((300, 6))
    rows[:60] = 0.2 * rows[:60] + [4, 0, 0, 0, 0, 0]
    rows -= rows.mean(axis=0)
    whole, size = covariance(rows), 153
    start = np.linalg.qr(rng.standard_normal((6, 1)))[0][:, 0]

    def ratio(direction):
        return np.var(rows @ direction) / univariate_mcd(rows @ direction, size).variance

    refined = refine(rows, whole, start, size)
    assert ratio(refined) >= ratio(start)
    again = refine(rows, whole, refined, size)
    assert ratio(again) <= ratio(refined) * (1.0 + 1e-5)


def test_refining_stops_at_an_exact_fit():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 5))
    rows[:150, 0] = 0.0
    start = np.array([1.0, 0.2, 0.0, 0.0, 0.0]) / np.sqrt(1.04)
    axis = refine(rows, covariance(rows), start, 103)
    assert abs(axis[0]) == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_array_equal(refine(rows, covariance(rows), axis, 103), axis)
