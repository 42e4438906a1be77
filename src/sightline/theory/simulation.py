"""Exact draws of what starts, steps and scores do, at a cost that does not depend on d.

With normal noise around a planted direction everything that matters is a function of nu, of the
score of the noise along the second direction of the plane of u and u*, and of one chi-square that
stands for all other directions:

    start   nu / sqrt(nu^2 + chi^2_{d-1})
    step    g = mean phi'(t) (nu - a t),  r^2 = mean phi'(t)^2 chi^2_{d-2} / n,
            (a + eta g) / sqrt(1 + eta^2 (g^2 / (1 - a^2) + r^2))
    score   t = a nu + sqrt(1 - a^2) g
"""

from __future__ import annotations

import math

import numpy as np

from sightline._arrays import namespace
from sightline.datasets.signals import Signal
from sightline.indices import Index
from sightline.indices.contract import with_feature_axis


def draw_starts(
    signal: Signal, d: int, shape: tuple[int, int], rng: np.random.Generator
) -> np.ndarray:
    """Draw alignments <u, u*> of starts at normalised rows."""
    nu = signal.sample(math.prod(shape), rng)[0]
    rest = rng.chisquare(d - 1, size=nu.shape) if d > 1 else np.zeros_like(nu)
    length = np.sqrt(nu * nu + rest)
    return np.reshape(nu / np.where(length > 0, length, 1.0), shape)


def draw_steps(
    index: Index,
    signal: Signal,
    alignment: float,
    *,
    n: int,
    d: int,
    step_size: float,
    trials: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw the alignment after one step from `alignment`, each on n fresh rows, (trials,)."""
    rest = (1 - alignment) * (1 + alignment)
    after = np.empty(trials)
    for trial in range(trials):
        nu, scores = _planted_scores(signal, alignment, n, rng)
        slope = _slope(index, scores)
        along = float(np.mean(slope * (nu - alignment * scores)))
        others = rng.chisquare(d - 2) if d > 2 else 0.0
        square = float(np.mean(slope * slope)) * others / n
        if rest > 0:
            square += along * along / rest
        after[trial] = (alignment + step_size * along) / math.sqrt(1 + step_size**2 * square)
    return after


def draw_values(
    index: Index,
    signal: Signal,
    alignment: float,
    *,
    n: int,
    trials: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw the index value of a direction at `alignment` on n rows, (trials,)."""
    values = np.empty(trials)
    for trial in range(trials):
        scores = _planted_scores(signal, alignment, n, rng)[1][:, None]
        values[trial] = float(index.value_of_sample(scores, namespace(scores))[0])
    return values


def _planted_scores(
    signal: Signal, alignment: float, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    nu = signal.sample(n, rng)[0]
    rest = math.sqrt((1 - alignment) * (1 + alignment))
    return nu, alignment * nu + rest * rng.standard_normal(n)


def _slope(index: Index, scores: np.ndarray) -> np.ndarray:
    """Return what each row's gradient is multiplied by, (n,)."""
    xp = namespace(scores)
    slope = with_feature_axis(index, index.slope(scores, xp), scores)
    if not index.combines:
        return np.asarray(slope[0])
    values = with_feature_axis(index, index.value(scores, xp), scores)
    factors = index.weights(np.mean(values, axis=-1, keepdims=True), xp)[:, 0]
    return np.asarray(factors @ slope)
