"""Weights in standard units do not know in which unit a column was measured."""

import numpy as np
import pytest

from sightline.scatter import scatter_of
from sightline.views import main_columns, standard_weights


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.standard_normal((500, 4)) @ rng.standard_normal((4, 4)) + 3


def test_weights_are_what_a_deviation_of_the_column_adds(rows):
    direction = np.array([[0.5, -0.5, 0.1, 0.7]])
    expected = direction * rows.std(axis=0) / (rows @ direction[0]).std()
    np.testing.assert_allclose(standard_weights(direction, scatter_of(rows)), expected, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-150, 1e-3, 1e6, 1e150])
def test_changing_a_columns_unit_changes_nothing(rows, scale):
    direction = np.array([[0.5, -0.5, 0.1, 0.7]])
    units = np.array([1, scale, 1, 1])
    same = standard_weights(direction / units, scatter_of(rows * units))
    np.testing.assert_allclose(same, standard_weights(direction, scatter_of(rows)), rtol=1e-9)


def test_of_an_uncorrelated_table_the_squares_add_up_to_one():
    table = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]) * [5.0, 0.1]
    weights = standard_weights(np.array([[0.6, 0.8]]), scatter_of(table))
    assert (weights**2).sum() == pytest.approx(1)


def test_a_direction_of_zeros_has_no_weights(rows):
    assert (standard_weights(np.zeros((1, 4)), scatter_of(rows)) == 0).all()


def test_main_columns_are_the_largest_by_size_and_never_without_weight():
    assert main_columns(np.array([0.1, -0.9, 0.0, 0.5]), 2) == [1, 3]
    assert main_columns(np.array([0.1, -0.9, 0.0, 0.5]), 4) == [1, 3, 0]
