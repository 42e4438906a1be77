"""Refining a direction: climbing the ratio of the variance to that of the best h rows.

    f(u) = log( u^T A u / min over h rows of var(u^T x) )

The minimum is the exact univariate MCD. For fixed rows with covariance C, f is the smooth
log(u^T A u / u^T C u), and a step costs two d x d products whatever the number of rows.
"""

from __future__ import annotations

import numpy as np

from sightline.covmcd.univariate_mcd import Floats, univariate_mcd

_GAIN = 1e-6
"""What gains less than this in f has arrived."""

_ARMIJO = 0.25
"""A step must gain this part of what the slope promises; with less, a step that overshoots to
where f is hardly higher would count, and look like an arrival."""

_HALVINGS = 60
"""After this many a step is below rounding."""


def covariance(rows: Floats) -> Floats:
    """Return mean (x - mean x)(x - mean x)^T, shape (d, d)."""
    centred = rows - rows.mean(axis=0)
    scatter: Floats = centred.T @ centred / rows.shape[0]
    return scatter


def rounding_of(scatter: Floats) -> float:
    """Return what rounding may leave of a variance of zero in a covariance (d, d)."""
    return float(np.finfo(np.float64).eps * scatter.shape[0] * np.trace(scatter))


def climb(whole: Floats, bulk: Floats, direction: Floats) -> Floats:
    """Maximise log(u^T A u / u^T C u) over the sphere by projected gradient ascent.

    A is `whole`, C is `bulk`, both (d, d). Steps follow Armijo's rule: halved until they gain
    enough, doubled for the next try, and in units that do not depend on the scale of A or C. Where
    C is singular f is unbounded, and the answer is the axis that the ascent would only approach.
    """
    bulk = bulk * (direction.size / np.trace(bulk))
    least = rounding_of(bulk)

    def f(u: Floats) -> float:
        inside = u @ bulk @ u
        return float(np.log(u @ whole @ u / inside)) if inside > least else np.inf

    value, step = f(direction), 1.0
    while value < np.inf:
        inside = direction @ bulk @ direction
        ascent = np.exp(-value) * (whole @ direction) - bulk @ direction
        promise = _ARMIJO * 2.0 * (ascent @ ascent) / inside
        for _ in range(_HALVINGS):
            moved = direction + step * ascent
            moved /= np.linalg.norm(moved)
            reached = f(moved)
            if reached >= value + step * promise:
                break
            step /= 2.0
        if reached <= value + _GAIN:
            return direction
        direction, value, step = moved, reached, 2.0 * step
    axis: Floats = np.linalg.eigh(bulk)[1][:, 0]
    return axis


def refine(rows: Floats, whole: Floats, direction: Floats, bulk_size: int) -> Floats:
    """Climb f from `direction`, choosing the best h rows again until they stay.

    Neither the climb nor the choice lowers f, so that this ends. A variance of zero of the best h
    rows is as far as f goes.
    """
    best = univariate_mcd(rows @ direction, bulk_size)
    total = direction @ whole @ direction
    while not best.exact_fit:
        moved = climb(whole, covariance(rows[best.support]), direction)
        found = univariate_mcd(rows @ moved, bulk_size)
        moved_total = moved @ whole @ moved
        if found.variance / moved_total >= (1.0 - _GAIN) * best.variance / total:
            break
        direction, best, total = moved, found, moved_total
    return direction
