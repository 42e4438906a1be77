"""The climb that the population gradient and the noise of n rows predict.

One step of size eta from alignment a on a fresh batch of n rows leads, up to fluctuations, to

    F(a) = (a + eta G) / sqrt(1 + eta^2 (G^2 / (1 - a^2) + (d - 1) V^2 / n)),

with G the population gradient and V the noise of a row (`population`): the norm of the gradient
as the paper splits it, and sqrt(d / n) as the noise term.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import brentq

from sightline._options import check_count, check_number
from sightline.datasets.signals import Components
from sightline.indices import Index
from sightline.theory.laws import components_of
from sightline.theory.population import checked_alignment, climbing_index, row_moments

_LEAST = 1e-4
"""Alignments below this are not searched for fixed points; 1 / sqrt d is over it up to d = 1e8."""


@dataclass(frozen=True, slots=True)
class PredictedClimb:
    """The predicted alignments of one run, and the fixed points of its step.

    Attributes
    ----------
    alignments : (n_steps + 1,) from the start on.
    basin : the least alignment from which a step gains; None where no step does.
    stall : the alignment above the basin at which a step gains no more, because of noise or a
        large step size; None where no step gains.
    """

    alignments: np.ndarray
    basin: float | None
    stall: float | None


@dataclass(frozen=True, slots=True)
class Step:
    """The map F of one step: `step(a)` is the predicted alignment after it."""

    index: Index
    components: Components
    n: int
    d: int
    step_size: float

    def __call__(self, alignment: float) -> float:
        """Return F(a)."""
        row = row_moments(self.index, self.components, alignment)
        rest = (1 - alignment) * (1 + alignment)
        in_plane = row.gradient**2 / rest if rest > 0 else 0.0
        square = in_plane + (self.d - 1) * row.noise**2 / self.n
        eta = self.step_size
        return (alignment + eta * row.gradient) / math.sqrt(1 + eta * eta * square)


def make_step(index: Any, signal: Any, n: int, d: int, step_size: float) -> Step:
    """Return the map of one step, its options checked."""
    return Step(
        climbing_index(index),
        components_of(signal),
        check_count("n", n),
        check_count("d", d),
        check_number("step_size", step_size, low=0, open_low=True),
    )


def predicted_climb(
    index: Any,
    signal: Any,
    n: int,
    d: int,
    *,
    step_size: float,
    n_steps: int,
    start: float | None = None,
) -> PredictedClimb:
    """Predict the alignments of one run of gradient ascent on fresh batches.

    Parameters
    ----------
    index, signal : as for `population_gradient`.
    n, d : rows of a batch, and columns.
    step_size, n_steps : eta and s.
    start : the alignment to begin from; None is `data_start_alignment(signal, d)`.
    """
    step = make_step(index, signal, n, d, step_size)
    a = data_start_alignment(signal, d) if start is None else checked_alignment("start", start)
    alignments = [a]
    for _ in range(check_count("n_steps", n_steps)):
        alignments.append(step(alignments[-1]))
    basin, stall = fixed_points(step)
    return PredictedClimb(np.array(alignments), basin, stall)


def data_start_alignment(signal: Any, d: int) -> float:
    """Return m / sqrt(m^2 + d - 1), m the largest mean: a start at a row of the rarest cluster."""
    d = check_count("d", d)
    m = float(np.max(components_of(signal).means))
    return m / math.hypot(m, math.sqrt(d - 1)) if m else 0.0


def fixed_points(step: Step) -> tuple[float | None, float | None]:
    """Return the least a at which F(a) >= a, and the next a at which F(a) falls below it."""
    grid = np.concatenate((np.geomspace(_LEAST, 0.1, 60)[:-1], np.linspace(0.1, 1, 90)))
    gain = np.array([step(a) - a for a in grid.tolist()])
    gains = np.flatnonzero(gain > 0)
    if not gains.size:
        return None, None
    first = int(gains[0])
    losses = first + np.flatnonzero(gain[first:] <= 0)
    basin = float(grid[0]) if first == 0 else _root(step, grid[first - 1], grid[first])
    stall = 1.0 if not losses.size else _root(step, grid[losses[0] - 1], grid[losses[0]])
    return basin, stall


def _root(step: Step, low: float, high: float) -> float:
    return float(brentq(lambda a: step(a) - a, low, high, xtol=1e-9))
