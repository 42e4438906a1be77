"""The directions of PPcovMCD, one after the other (Pokojovy and Jobe, 2022).

For each in turn: three candidates from third and fourth moments; of them the most bimodal, refined
if that makes it no less so; then the rows outside its bulk are dropped and it is projected out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sightline.covmcd.refinement import covariance, refine, rounding_of
from sightline.covmcd.two_normals import variance_ratio
from sightline.covmcd.univariate_mcd import Floats, UnivariateMCD, univariate_mcd
from sightline.moments import squared_norms, weighted_mean, weighted_scatter

_NORMAL_RATIO = 1.25
"""Scores whose variance is less than this times their robust variance look normal."""

_NORMAL_PART = 0.05
_NORMAL_LEAST = 5
"""The pursuit ends after max(0.05 d, 5) directions on end that look normal."""


@dataclass(frozen=True, slots=True)
class Found:
    """A unit direction (d,), the scores along it of the rows that were left, and their MCD."""

    direction: Floats
    scores: Floats
    mcd: UnivariateMCD

    @property
    def bimodality(self) -> float:
        """Within / total variance of the scores as a mixture of two normals."""
        return variance_ratio(self.scores, self.mcd.support.size)

    @property
    def looks_normal(self) -> bool:
        """Whether the variance of the scores is about their robust variance."""
        return bool(self.scores.var() < _NORMAL_RATIO * self.mcd.robust_variance)


def pursue(Z: Floats, bulk_size: int) -> Iterator[Found]:
    """Yield d orthonormal directions for standardised rows Z (n, d), each found when asked for.

    Once the scores look normal, or only h rows are left, the rest are eigenvectors of the fourth
    moments, largest first.
    """
    rows, basis = Z, np.eye(Z.shape[1])
    patience = max(_NORMAL_PART * Z.shape[1], _NORMAL_LEAST)
    normal_looking = 0
    while basis.shape[1] > 0 and normal_looking < patience:
        direction = principal_direction(rows, bulk_size)
        found = _along(direction, rows, basis, bulk_size)
        yield found
        normal_looking = normal_looking + 1 if found.looks_normal else 0
        others = orthogonal_complement(direction)
        rows = rows[found.mcd.bulk(found.scores)] @ others
        basis = basis @ others
        if rows.shape[0] == bulk_size:
            break
    if basis.shape[1] > 0:
        _, fourth = weighted_moments(rows - rows.mean(axis=0))
        for axis in np.linalg.eigh(fourth)[1].T[::-1]:
            yield _along(axis, rows, basis, bulk_size)


def _along(direction: Floats, rows: Floats, basis: Floats, bulk_size: int) -> Found:
    scores = rows @ direction
    return Found(basis @ direction, scores, univariate_mcd(scores, bulk_size))


def principal_direction(rows: Floats, bulk_size: int) -> Floats:
    """Return the direction along which `rows` (n, r) look most like two clusters, (r,).

    An exact fit, h rows on a hyperplane, is taken however bimodal its scores are.
    """
    rows = rows - rows.mean(axis=0)
    scatter = covariance(rows)
    variances, axes = np.linalg.eigh(scatter)
    if variances[0] <= rounding_of(scatter):
        flat: Floats = axes[:, 0]
        return flat
    candidates = moment_directions(rows)
    ratios = [variance_ratio(rows @ candidate, bulk_size) for candidate in candidates]
    start = candidates[int(np.argmin(ratios))]
    refined = refine(rows, scatter, start, bulk_size)
    scores = rows @ refined
    exact = univariate_mcd(scores, bulk_size).exact_fit
    as_bimodal = exact or variance_ratio(scores, bulk_size) <= min(ratios)
    return refined if as_bimodal else start


def moment_directions(rows: Floats) -> list[Floats]:
    """Return the mean of d^2 x and the extreme eigenvectors of the mean of d^2 x x^T.

    Rows are centred. The first is left out where symmetry makes it zero.
    """
    third, fourth = weighted_moments(rows)
    axes = np.linalg.eigh(fourth)[1]
    length = np.linalg.norm(third)
    return ([third / length] if length > 0.0 else []) + [axes[:, -1], axes[:, 0]]


def weighted_moments(rows: Floats) -> tuple[Floats, Floats]:
    """Return the means of d^2 x (r,) and of d^2 x x^T (r, r), d the Mahalanobis distance of x."""
    scatter = covariance(rows)
    variances, axes = np.linalg.eigh(scatter)
    least = max(rounding_of(scatter), float(np.finfo(np.float64).tiny))
    whitening = axes / np.sqrt(np.maximum(variances, least))

    def squared_distances(block: Floats) -> Floats:
        distances: Floats = squared_norms(block @ whitening)
        return distances

    return weighted_mean(rows, squared_distances), weighted_scatter(rows, squared_distances)


def orthogonal_complement(direction: Floats) -> Floats:
    """Return orthonormal columns (r, r - 1) that complete a unit direction (r,).

    They are the columns but the first of the reflection that takes the direction to an axis.
    """
    mirror = direction.copy()
    mirror[0] += np.copysign(1.0, direction[0])
    twice = 2.0 / (mirror @ mirror)
    reflection: Floats = np.eye(direction.size) - twice * np.outer(mirror, mirror)
    return reflection[:, 1:]
