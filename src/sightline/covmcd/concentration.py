"""From a first guess of the bulk to a robust location and covariance.

Concentration steps (Rousseeuw and Van Driessen, 1999) go on to the h rows nearest to the mean of
the last h in the metric of their covariance, whose determinant never grows. Reweighting then takes
in every row that is no farther out than a normal sample would have it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from sightline.covmcd.refinement import covariance, rounding_of
from sightline.covmcd.univariate_mcd import Floats, consistency_factor
from sightline.moments import squared_norms

_KEPT = 0.975
"""The part of a normal sample that reweighting keeps."""

_SHRINKS = 1e-12
"""Concentration ends when the log determinant falls by less than this."""


@dataclass(frozen=True, slots=True)
class Scatter:
    """Location (d,), covariance (d, d), distances (n,) and support (n,) of rows (n, d)."""

    location: Floats
    covariance: Floats
    distances: Floats
    support: NDArray[np.bool_]
    exact_fit: bool


def scatter_along(
    basis: Floats, locations: Floats, deviations: Floats, rows: Floats, bulk_size: int
) -> Scatter:
    """Return robust scatter from a first guess along each orthonormal row of `basis` (d, d).

    The h rows nearest by the robust distances sum_j ((<x, w_j> - m_j) / s_j)^2 come first. All is
    done in the coordinates (<x, w_j> - m_j) / s_j, in which the bulk is round even where outliers
    leave it flat in those of the rows.
    """
    rounded = (rows @ basis.T - locations) / deviations
    first = np.argsort(squared_norms(rounded), kind="stable")[:bulk_size]
    scatter = robust_scatter(rounded, first)
    back = deviations[:, None] * basis
    return replace(
        scatter,
        location=locations @ basis + scatter.location @ back,
        covariance=back.T @ scatter.covariance @ back,
    )


def robust_scatter(rows: Floats, first: NDArray[np.intp]) -> Scatter:
    """Concentrate from the rows at positions `first` (h,), then reweight.

    Where h rows turn out to lie on a hyperplane, all rows on it are the answer.
    """
    bulk, log_determinant = first, np.inf
    while True:
        location, scatter = rows[bulk].mean(axis=0), covariance(rows[bulk])
        variances, axes = np.linalg.eigh(scatter)
        rounding = rounding_of(scatter)
        if variances[0] <= rounding:
            heights = (rows - location) @ axes[:, 0]
            reach = np.sqrt(2.0 * first.size * rounding)  # no row of the bulk is farther
            return scatter_on_hyperplane(rows, axes[:, 0], np.abs(heights) <= reach)
        squared = squared_norms((rows - location) @ (axes / np.sqrt(variances)))
        shrunk = np.log(variances).sum()
        if shrunk > log_determinant - _SHRINKS:
            return reweighted(rows, squared, bulk)
        bulk, log_determinant = np.argpartition(squared, first.size - 1)[: first.size], shrunk


def reweighted(rows: Floats, squared: Floats, bulk: NDArray[np.intp]) -> Scatter:
    """Return mean and covariance of the rows whose squared distance is under a chi2 quantile.

    Distances are first scaled so that their median is that of a normal sample. The best h rows are
    always in, which keeps the covariance of full rank however few rows there are.
    """
    dimension = rows.shape[1]
    scale = np.median(squared) / chi2.ppf(0.5, dimension)
    support = squared <= scale * chi2.ppf(_KEPT, dimension)
    support[bulk] = True
    location = rows[support].mean(axis=0)
    scatter = covariance(rows[support]) * consistency_factor(_KEPT, dimension)
    variances, axes = np.linalg.eigh(scatter)
    distances = np.sqrt(squared_norms((rows - location) @ (axes / np.sqrt(variances))))
    return Scatter(location, scatter, distances, support, exact_fit=False)


def scatter_on_hyperplane(rows: Floats, normal: Floats, inside: NDArray[np.bool_]) -> Scatter:
    """Return mean and covariance of the rows `inside` a hyperplane with a unit `normal` (d,).

    The covariance is singular: rows on the hyperplane have a distance within it, all others are
    infinitely far.
    """
    location = rows[inside].mean(axis=0)
    offsets = rows - location
    offsets -= np.outer(offsets @ normal, normal)
    scatter = covariance(offsets[inside])
    variances, axes = np.linalg.eigh(scatter)
    spread = variances > rounding_of(scatter)
    within = squared_norms(offsets @ (axes[:, spread] / np.sqrt(variances[spread])))
    distances = np.where(inside, np.sqrt(within), np.inf)
    return Scatter(location, scatter, distances, inside, exact_fit=True)
