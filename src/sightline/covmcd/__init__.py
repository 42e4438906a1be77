"""PPcovMCD: deterministic, affine-equivariant robust scatter by projection pursuit.

Implements Pokojovy and Jobe (2022), "A robust deterministic affine-equivariant algorithm for
multivariate location and scatter", Computational Statistics & Data Analysis 172, 107475. Every
direction is a candidate from third and fourth moments, refined to make the variance of its scores
large against their exact univariate MCD, the least variance of h = floor((n + d + 1) / 2) of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice

import numpy as np

from sightline._arrays import Array, as_table, like, namespace, to_numpy
from sightline._options import check_count
from sightline._threads import one_blas_thread
from sightline.covmcd.concentration import Scatter, scatter_along, scatter_on_hyperplane
from sightline.covmcd.pursuit import Found, pursue
from sightline.covmcd.standardise import Standardised, standardise
from sightline.covmcd.univariate_mcd import EXACT_REACH, Floats

__all__ = ["CovMCD", "CovMCDDirections", "covmcd", "covmcd_directions"]


@dataclass(frozen=True, slots=True)
class CovMCDDirections:
    """Directions of PPcovMCD, in the order in which they were found.

    Attributes
    ----------
    directions : (k, d) unit rows a in the space of the columns, with the scores' longer tail on
        the positive side. They are orthogonal in the metric of the sample covariance S,
        a_i^T S a_j = 0: the scores X a_i are uncorrelated.
    bimodality : (k,) for each the variance within the components over the whole variance of a
        mixture of two normals, fitted to the scores of the rows that earlier directions left in:
        near 0 for two clusters, 1 for a single one.
    """

    directions: Array
    bimodality: Array


@dataclass(frozen=True, slots=True)
class CovMCD:
    """A robust location and covariance.

    Attributes
    ----------
    location : (d,) mean of the rows in `support`.
    covariance : (d, d) their covariance, scaled to be right for normal rows.
    distances : (n,) Mahalanobis distance (not squared) of each row from `location`.
    support : (n,) bool, the rows that were taken in.
    exact_fit : whether at least h rows lie on a hyperplane. Then `support` are the rows on it,
        `covariance` is singular, and the distance of any other row is infinite.
    """

    location: Array
    covariance: Array
    distances: Array
    support: Array
    exact_fit: bool


def covmcd_directions(X: Array, n_directions: int = 1) -> CovMCDDirections:
    """Return the first `n_directions` projection directions of PPcovMCD.

    Only as many as asked for are looked for. Nothing is random: the same rows give the same bits,
    whatever the number of threads. X (n, d) needs n > d and a
    covariance of full rank; an affine map X B + c turns a direction a into B^{-1} a.
    """
    table = as_table(X)
    check_count("n_directions", n_directions, at_most=table.shape[1])
    smallest, _ = _limits(table)
    with one_blas_thread():
        standard = _standardised(table)
        found = list(islice(pursue(standard.rows, _bulk_size(standard.rows)), n_directions))
        upright = np.stack([_heavier_side(standard.rows, one.direction) for one in found])
        bimodality = np.asarray([one.bimodality for one in found])
        directions = standard.directions(upright, smallest)
    return CovMCDDirections(like(directions, table), like(bimodality, table))


def covmcd(X: Array) -> CovMCD:
    """Return the robust location and covariance of PPcovMCD.

    The whole basis of directions is found, unless h rows turn out to lie on a hyperplane. Robust
    distances along it choose the h rows from which concentration steps begin; rows within the
    0.975 quantile of a normal sample make the result.
    """
    table = as_table(X)
    with one_blas_thread():
        standard = _standardised(table)
        scatter = _scatter(standard.rows)
        location = standard.location(scatter.location)
        covariance = standard.covariance(scatter.covariance, *_limits(table))
    return CovMCD(
        location=like(location, table),
        covariance=like(covariance, table),
        distances=like(scatter.distances, table),
        support=like(scatter.support, table, namespace(table).bool),
        exact_fit=scatter.exact_fit,
    )


def _standardised(table: Array) -> Standardised:
    precision = float(namespace(table).finfo(table.dtype).eps)
    return standardise(to_numpy(table).astype(np.float64), precision)


def _limits(table: Array) -> tuple[float, float]:
    """Return the least and the largest normal number of the dtype of the table."""
    info = namespace(table).finfo(table.dtype)
    return float(info.smallest_normal), float(info.max)


def _bulk_size(Z: Floats) -> int:
    """Return h = floor((n + d + 1) / 2), the size of bulk that resists the most outliers."""
    return int(sum(Z.shape) + 1) // 2


def _heavier_side(Z: Floats, direction: Floats) -> Floats:
    """Return the direction or its opposite, whichever has scores of positive skewness."""
    return -direction if np.sum((Z @ direction) ** 3) < 0.0 else direction


def _scatter(Z: Floats) -> Scatter:
    """Return robust location and covariance of standardised rows (n, d)."""
    bulk_size = _bulk_size(Z)
    found: list[Found] = []
    for one in pursue(Z, bulk_size):
        if one.mcd.exact_fit:
            heights = Z @ one.direction - one.mcd.location
            return scatter_on_hyperplane(Z, one.direction, np.abs(heights) <= EXACT_REACH)
        found.append(one)
    basis = np.stack([one.direction for one in found])
    locations = np.asarray([one.mcd.location for one in found])
    deviations = np.sqrt([one.mcd.robust_variance for one in found])
    return scatter_along(basis, locations, deviations, Z, bulk_size)
