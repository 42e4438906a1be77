"""The axes of the page, and the space in which its tour turns."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from sightline import ProjectionPursuit
from sightline.report.axes import make_axes, make_tour
from sightline.report.facts import read_directions
from sightline.report.packing import STEPS
from sightline.report.sample import draw_rows
from sightline.scatter import scatter_of


def axes_of(X, n_components, scale=1.0):
    X = X * scale
    estimator = ProjectionPursuit(
        n_components=n_components, solver="two-step", n_starts=50, random_state=0
    ).fit(X)
    scatter = scatter_of(X)
    directions = read_directions(estimator, X, scatter, estimator.transform(X), None)
    codes = np.zeros(len(X), int)
    drawn = draw_rows([directions[0].split.small], codes, 10**5, np.random.default_rng(0))
    return make_axes(directions, X, scatter, drawn)


@pytest.mark.parametrize("scale", [1.0, [1e-100, 1, 1e3, 1e100, 5]])
def test_a_single_direction_has_two_principal_components_beside_it(example, scale):
    axes = axes_of(example.X, 1, scale)
    assert [axis.short for axis in axes] == ["1", "PC1", "PC2"]
    assert axes[1].packed.cut is None
    standard = StandardScaler().fit_transform(example.X)
    expected = PCA(2).fit_transform(standard)
    for place in (0, 1):
        packed = axes[1 + place].packed
        found = packed.low + packed.codes * (packed.high - packed.low) / STEPS
        sign = np.sign(found @ expected[:, place])
        np.testing.assert_allclose(found, sign * expected[:, place], atol=1e-3)


def test_three_directions_need_no_others(example):
    assert [axis.short for axis in axes_of(example.X, 3)] == ["1", "2", "3"]


def test_coordinates_of_the_tour_are_white_and_give_the_scores_back(example):
    axes = axes_of(example.X, 3)
    tour = make_tour(axes)
    codes = np.stack([axis.packed.codes for axis in axes], axis=1)
    standard = (codes - tour.centres) / tour.scales
    span = standard @ tour.to_span
    np.testing.assert_allclose(span.T @ span / len(span), np.eye(span.shape[1]), atol=1e-9)
    np.testing.assert_allclose(span @ tour.axes.T, standard, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(tour.axes, axis=1), 1)


def test_a_table_of_one_column_has_no_tour():
    X = np.r_[np.zeros(50), np.ones(5)][:, None] + np.random.default_rng(0).normal(0, 0.1, (55, 1))
    assert make_tour(axes_of(X, 1)) is None
