"""Does a small group stand apart in scores? A likelihood ratio between one mode and two.

On one half of the rows a mixture of two normals is fitted, w_0 N(m_0, v_0) + w_1 N(m_1, v_1), with
the smaller part above. On the other half it is held against one cluster, at its likeliest there:

    e = prod_i mixture(t_i) / max over (m, s, nu) of prod_i student_t(t_i; m, s, nu).

If the rows are one cluster with such scores, the mean of e is at most 1, whatever the first half
has chosen: the direction, the mixture, or that it be looked at. Means of several e keep that, and
by Markov's inequality 1 / e is a p-value (Wasserman, Ramdas and Balakrishnan 2020, PNAS 117,
16880-16890). Student's t is normal for large nu, and takes heavy tails for what they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln

from sightline.covmcd.two_normals import TwoNormals, maximise, powers

Host = np.ndarray[Any, np.dtype[np.float64]]

_STEPS = 40
"""Steps of expectation and maximisation, for mixtures as for Student's t."""

_SIZE_RATIO = 2.0
"""Groups are tried from sizes that grow by this ratio."""

_LEAST_VARIANCE = 1e-4
"""Least variance of a part, as a part of the whole."""

_POINTS = 201
"""Points between two means at which a mixture is looked at."""

_NORMAL = 1e6
"""Degrees of freedom at which Student's t is normal to six digits."""

DEGREES = np.array([1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 15.0, 30.0, 100.0, _NORMAL])
"""Degrees of freedom among which the likeliest is taken."""


def fit_mixture(scores: Host, minimum_size: int) -> TwoNormals | None:
    """Return the likeliest mixture whose smaller part is above, behind a valley.

    Parameters
    ----------
    scores : (n,) scores with mean 0 and variance 1.
    minimum_size : least rows of the smaller part.
    """
    sizes = [minimum_size]
    while _SIZE_RATIO * sizes[-1] < scores.size / 2:
        sizes.append(int(np.ceil(_SIZE_RATIO * sizes[-1])))
    ranks = scores.size - 1 - np.argsort(np.argsort(scores, kind="stable"), kind="stable")
    features = powers(scores)
    memberships = (ranks < np.array(sizes)[:, None]).astype(np.float64)
    for _ in range(_STEPS):
        mixtures = maximise(features, memberships, _LEAST_VARIANCE)
        memberships = mixtures.memberships(features)
    apart = (
        (mixtures.weights[1] * scores.size >= minimum_size)
        & (mixtures.weights[1] <= mixtures.weights[0])
        & (_valley(mixtures) < 1.0)
    )
    if not apart.any():
        return None
    likelihood = np.where(apart, mixtures.log_likelihood(scores), -np.inf)
    return mixtures.only(int(np.argmax(likelihood)))


def threshold_of(mixture: TwoNormals) -> float:
    """Return the point of least density between the means, the antimode.

    Where scores are normal on both sides it loses little to the point of equal odds; where the
    lower side has a tail, that point lies in the tail, because the upper normal widens to take it.
    """
    points = _between(mixture)
    return float(points[0, np.argmin(_densities(mixture, points)[0])])


def log_evidence(mixture: TwoNormals, scores: Host) -> float:
    """Return log e of a mixture that other rows have chosen, on `scores` (n,)."""
    two = float(mixture.log_likelihood(scores)[0])
    return scores.size * (two - _one_cluster(scores))


def _one_cluster(scores: Host) -> float:
    """Return the largest mean log-likelihood of Student's t: location, scale, degrees."""
    degrees = DEGREES[:, None]
    location = np.full((DEGREES.size, 1), np.median(scores))
    spread = np.full((DEGREES.size, 1), scores.var())
    for _ in range(_STEPS):
        weights = (degrees + 1) / (degrees + (scores - location) ** 2 / spread)
        location = np.sum(weights * scores, axis=1, keepdims=True) / weights.sum(1, keepdims=True)
        spread = np.mean(weights * (scores - location) ** 2, axis=1, keepdims=True)
        spread = np.maximum(spread, _LEAST_VARIANCE**2)
    squares = (scores - location) ** 2 / spread
    level = (
        gammaln((degrees + 1) / 2) - gammaln(degrees / 2) - 0.5 * np.log(np.pi * degrees * spread)
    )
    density = level - 0.5 * (degrees + 1) * np.log1p(squares / degrees)
    return float(density.mean(axis=1).max())


def _between(mixtures: TwoNormals) -> Host:
    """Return points from the lower mean to the upper one, (s, points)."""
    steps = np.linspace(0.0, 1.0, _POINTS)
    lower, upper = mixtures.means[..., None]
    points: Host = lower + (upper - lower) * steps
    return points


def _densities(mixtures: TwoNormals, points: Host) -> Host:
    """Return the log density (s, points) of each mixture at its own points."""
    return np.array(
        [
            np.logaddexp(*mixtures.only(start).log_densities(own)[:, 0])
            for start, own in enumerate(points)
        ]
    )


def _valley(mixtures: TwoNormals) -> Host:
    """Return the least density between the means over the lower of those at the means, (s,)."""
    density = _densities(mixtures, _between(mixtures))
    depth: Host = np.exp(density.min(axis=1) - np.minimum(density[:, 0], density[:, -1]))
    depth[mixtures.means[1] <= mixtures.means[0]] = 1.0
    return depth
