"""How bimodal are these scores? A mixture of two normals by maximum likelihood.

The density is w_0 N(m_0, v_0) + w_1 N(m_1, v_1). Its variance splits into a part within the two
components and a part between them,

    within = w_0 v_0 + w_1 v_1,        between = w_0 w_1 (m_1 - m_0)^2,

and within / (within + between) is near 0 for two clusters and 1 for a single one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from sightline.covmcd.univariate_mcd import Floats, univariate_mcd

_TRIAL_STEPS = 20
"""Steps that every start takes before the likeliest goes on alone."""

_MAX_STEPS = 500
"""Steps of expectation and maximisation; overlapping components converge slowly and need not."""

_STEADY = 1e-6
"""The mixture has converged when no weight or mean moves by more than this in a step."""

_LEAST_VARIANCE = 1e-14
"""Least variance of a component, as a part of the whole: sums of squares resolve no less."""

_LEAST_COUNT = 1e-9
"""Least count of scores in a component, so that an emptied one keeps a place to stand."""


@dataclass(frozen=True, slots=True)
class TwoNormals:
    """Mixtures of two normals, one a start: weights (2, s), means (2, s), variances (2, s)."""

    weights: Floats
    means: Floats
    variances: Floats

    @property
    def variance_ratio(self) -> Floats:
        """The variance within the components over the whole variance, (s,)."""
        within = np.sum(self.weights * self.variances, axis=0)
        between = np.prod(self.weights, axis=0) * (self.means[1] - self.means[0]) ** 2
        ratio: Floats = within / (within + between)
        return ratio

    def log_densities(self, scores: Floats) -> Floats:
        """Return the logarithm of weight times density of each component, (2, s, n)."""
        squares = (scores - self.means[..., None]) ** 2 / self.variances[..., None]
        levels = np.log(self.weights) - 0.5 * np.log(2.0 * np.pi * self.variances)
        densities: Floats = levels[..., None] - 0.5 * squares
        return densities

    def memberships(self, features: Floats) -> Floats:
        """Return the probability that each score t is from component 1, (s, n).

        The log odds are a square polynomial in t, and `features` (3, n) hold 1, t and t^2.
        """
        precisions = 1.0 / self.variances
        levels = np.log(self.weights) + 0.5 * np.log(precisions)
        polynomials = [levels - 0.5 * self.means**2 * precisions, self.means * precisions]
        first, second = np.stack([*polynomials, -0.5 * precisions], axis=-1)
        chances: Floats = expit((second - first) @ features)
        return chances

    def log_likelihood(self, scores: Floats) -> Floats:
        """Return the mean log-likelihood of the scores, (s,)."""
        first, second = self.log_densities(scores)
        likelihood: Floats = np.logaddexp(first, second).mean(axis=-1)
        return likelihood

    def only(self, start: int) -> TwoNormals:
        """Return the mixture of one start."""
        column = slice(start, start + 1)
        return TwoNormals(
            self.weights[:, column], self.means[:, column], self.variances[:, column]
        )


def powers(scores: Floats) -> Floats:
    """Return 1, t and t^2 for every score t, (3, n)."""
    return np.stack([np.ones_like(scores), scores, scores**2])


def maximise(features: Floats, memberships: Floats, least_variance: float) -> TwoNormals:
    """Return the mixtures that fit standardised scores and memberships (s, n) best.

    The scores come as their powers (3, n), so that a step is two matrix products. The least
    variance bounds the likelihood: a component on a single score would otherwise win with an
    infinite one.
    """
    second = features @ memberships.T
    counts, sums, squares = np.stack([features.sum(axis=1)[:, None] - second, second], axis=1)
    counts = np.maximum(counts, _LEAST_COUNT)
    means = sums / counts
    variances = np.maximum(squares / counts - means**2, least_variance)
    return TwoNormals(counts / counts.sum(axis=0), means, variances)


def starting_memberships(scores: Floats, bulk_size: int) -> Floats:
    """Return splits of the scores in two, each a start, as memberships (s, n) of 0 and 1.

    Split off are the scores above the bulk, those below it, both together, and the upper part of
    the cut that leaves the least variance within the parts. A split needs two parts to be one.
    """
    in_bulk = univariate_mcd(scores, bulk_size).bulk(scores)
    above = scores > scores[in_bulk].max()
    below = scores < scores[in_bulk].min()
    splits = np.stack([above, below, above | below, scores > _best_cut(scores)])
    proper: Floats = splits[splits.any(axis=1)].astype(np.float64)
    return proper


def _best_cut(scores: Floats) -> float:
    """Return the score c such that {<= c} and {> c} have the least variance within them."""
    ordered = np.sort(scores)
    sizes = np.arange(1, scores.size)
    sums = np.cumsum(ordered - ordered.mean())[:-1]
    between = sums**2 / (sizes * (scores.size - sizes))
    return float(ordered[np.argmax(between)])


def two_normals(scores: Floats, bulk_size: int) -> TwoNormals:
    """Fit a mixture of two normals to `scores` by maximum likelihood; nothing is drawn.

    Every start takes a few steps of expectation and maximisation, then the likeliest goes on until
    it is steady. Means and variances are those of the standardised scores. Scores that are all
    equal are one cluster, with variance ratio 1.
    """
    spread = scores.std()
    if spread == 0.0:
        return TwoNormals(np.full((2, 1), 0.5), np.zeros((2, 1)), np.ones((2, 1)))
    standard = (scores - scores.mean()) / spread
    bulk_variance = univariate_mcd(standard, bulk_size).robust_variance
    least = max(bulk_variance / scores.size, _LEAST_VARIANCE)
    features = powers(standard)
    mixtures = maximise(features, starting_memberships(standard, bulk_size), least)
    for _ in range(_TRIAL_STEPS):
        mixtures = maximise(features, mixtures.memberships(features), least)
    mixture = mixtures.only(int(np.argmax(mixtures.log_likelihood(standard))))
    for _ in range(_MAX_STEPS):
        before = mixture
        mixture = maximise(features, before.memberships(features), least)
        moves = np.abs([mixture.weights - before.weights, mixture.means - before.means])
        if moves.max() <= _STEADY:
            break
    return mixture


def variance_ratio(scores: Floats, bulk_size: int) -> float:
    """Return within / total variance of the two-normal mixture: small for two clusters."""
    return float(two_normals(scores, bulk_size).variance_ratio[0])
