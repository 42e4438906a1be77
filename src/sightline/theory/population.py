"""The population gradient: what a step would climb with infinitely many rows.

At alignment a = <u, u*> a planted row has the score t = a nu + sqrt(1 - a^2) g, g ~ N(0, 1), and
the Riemannian gradient of the mean of phi has the part along u* (paper, Lemma on the projected
gradient)

    E <g_u(x), u*> = E phi'(t) (nu - a t).

For nu a mixture of N(m, s^2), each part gives t = a m + sqrt(v) z with v = a^2 s^2 + 1 - a^2, and
E[nu | t] = m + (a s^2 / sqrt(v)) z: one integral over z ~ N(0, 1).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.legendre import leggauss

from sightline._arrays import namespace
from sightline._options import check_number
from sightline.datasets.signals import Components
from sightline.indices import Index, make_index
from sightline.indices.contract import with_feature_axis
from sightline.theory.laws import components_of

_REACH = 12.0
"""z beyond this has probability 4e-33."""

_NODES, _NODE_WEIGHTS = leggauss(16)

_NEAR_KINK = 2.0 ** -np.arange(25)
"""Distances from the score 0 at which panels end: the slopes there bend within 1e-6 or jump."""


@dataclass(frozen=True, slots=True)
class RowMoments:
    """What one row contributes to a step at one alignment.

    Attributes
    ----------
    gradient : E phi'(t) (nu - a t), the drift along u*.
    noise : sqrt(E phi'(t)^2): along each direction that is orthogonal to u and u* the mean
        gradient of n rows is N(0, noise^2 / n).
    """

    gradient: float
    noise: float


def population_gradient(index: Any, signal: Any, alignment: Any) -> Any:
    """Return E <g_u(x), u*> at <u, u*> = `alignment`: a float, or an array for an array.

    Parameters
    ----------
    index : an index with a slope, by name or as an object; one that combines means, such as
        "approx-entropy", by its weights at the population means. The integral is exact to rounding
        for slopes that are smooth but for 0; a kink of a user's own elsewhere costs digits.
    signal : the law of nu: a signal or a law with `components()`.
    alignment : <u, u*>, in [-1, 1].
    """
    phi, components = climbing_index(index), components_of(signal)
    alignments = np.asarray(alignment)
    gradients = [
        row_moments(phi, components, checked_alignment("alignment", a)).gradient
        for a in alignments.ravel().tolist()
    ]
    return np.reshape(gradients, alignments.shape) if alignments.shape else gradients[0]


def row_moments(index: Index, components: Components, alignment: float) -> RowMoments:
    """Return the drift and the noise of one row at one alignment."""
    parts = list(_parts(components, alignment))
    xp = namespace(parts[0].scores)
    values, slopes = (
        [with_feature_axis(index, function(part.scores, xp), part.scores) for part in parts]
        for function in (index.value, index.slope)
    )
    if index.combines:
        means = sum(value @ part.weights for value, part in zip(values, parts, strict=True))
        factors = index.weights(np.reshape(means, (-1, 1)), xp)[:, 0]
        slopes = [factors @ slope for slope in slopes]
    else:
        slopes = [slope[0] for slope in slopes]
    drift = [
        math.fsum(part.weights * slope * (part.signal - alignment * part.scores))
        for slope, part in zip(slopes, parts, strict=True)
    ]
    square = [
        math.fsum(part.weights * slope * slope) for slope, part in zip(slopes, parts, strict=True)
    ]
    return RowMoments(math.fsum(drift), math.sqrt(math.fsum(square)))


def climbing_index(spec: Any) -> Index:
    """Return the index that `spec` names or is, if it has a slope."""
    index = make_index(spec)
    if index.whole_sample:
        raise ValueError(
            f"index {index.name!r} has no slope, so it has no gradient; choose one that can "
            "climb, such as 'relu2'."
        )
    return index


def checked_alignment(option: str, got: Any) -> float:
    """Return an alignment if it is a number in [-1, 1]."""
    return check_number(option, got, low=-1, high=1)


class _Part(NamedTuple):
    """Nodes of one normal part of nu: scores t, E[nu | t], and weights that sum to its own."""

    scores: np.ndarray
    signal: np.ndarray
    weights: np.ndarray


def _parts(components: Components, a: float) -> Iterator[_Part]:
    for weight, m, s in zip(*components, strict=True):
        spread = math.sqrt(a * a * s * s + (1 - a) * (1 + a))
        z, density = _normal_rule(-a * m / spread if spread > 0 else math.inf)
        pull = a * s * s / spread if spread > 0 else 0.0
        yield _Part(a * m + spread * z, m + pull * z, weight * density)


def _normal_rule(kink: float) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes and weights for E f(z), z ~ N(0, 1), with panels that shrink towards a kink."""
    edges = np.concatenate(
        (np.linspace(-_REACH, _REACH, 25), kink - _NEAR_KINK, [kink], kink + _NEAR_KINK)
    )
    edges = np.unique(np.clip(edges, -_REACH, _REACH))
    half = np.diff(edges)[:, None] / 2
    z = (edges[:-1, None] + half * (1 + _NODES)).ravel()
    weights = (half * _NODE_WEIGHTS).ravel() * np.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return z, weights
