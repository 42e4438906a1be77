"""Where scores part in two: the threshold of minimum error, and the side with fewer rows.

Every cut leaves parts with shares P and standard deviations s. Of all cuts this one has the
largest likelihood under two normals that keep to their sides, the least

    J = P_1 log s_1 + P_2 log s_2 - P_1 log P_1 - P_2 log P_2

(Kittler and Illingworth 1986, Pattern Recognition 19, 41-47). A cut of least variance would pull
towards equal halves; this one finds small groups too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

_LEAST_ROWS = 2
"""Rows on either side where that is possible: one row has no spread."""

_CUTS = 2**18
"""Cuts that are compared at once: for millions of scores the formula has a dozen temporaries."""

_LEAST_SPREAD = 1e-3
"""Least standard deviation of a side, as a part of the whole: ties would otherwise win."""


@dataclass(frozen=True, slots=True)
class Split:
    """Two sides of a threshold.

    Attributes
    ----------
    threshold : rows with a score above it are on one side, the others on the other.
    above : whether the side with fewer rows is the one above.
    small : (n,) mask of the rows on the side with fewer rows.
    """

    threshold: float
    above: bool
    small: np.ndarray[Any, np.dtype[np.bool_]]

    @property
    def size(self) -> int:
        """Rows on the small side."""
        return int(np.count_nonzero(self.small))


def split_in_two(scores: Any) -> Split:
    """Cut finite `scores` (n,) where two normals would err least; equal scores have no small side.

    Ties between sides go to the one above.
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"scores have shape {values.shape}; they must be a list of numbers.")
    ordered = np.sort(values)
    cuts = _possible_cuts(ordered)
    if cuts.size == 0:
        return Split(float(ordered[-1]), True, np.zeros(values.size, dtype=np.bool_))
    best = _best_cut(ordered, cuts)
    threshold = float(ordered[best - 1] + (ordered[best] - ordered[best - 1]) / 2)
    if threshold >= ordered[best]:  # neighbouring floats have nothing between them
        threshold = float(ordered[best - 1])
    above = bool(2 * best >= values.size)
    upper = values > threshold
    return Split(threshold, above, upper if above else ~upper)


def _possible_cuts(ordered: np.ndarray) -> np.ndarray:
    """Return the counts k such that the k lowest scores can be one side."""
    steps = 1 + np.flatnonzero(ordered[1:] > ordered[:-1])
    inner = steps[(steps >= _LEAST_ROWS) & (steps <= ordered.size - _LEAST_ROWS)]
    return inner if inner.size else steps


def _best_cut(ordered: np.ndarray, cuts: np.ndarray) -> int:
    """Return the cut of least J, the first of equals, from running sums of standardised scores."""
    running = ordered / np.abs(ordered).max()
    running -= running.mean()
    running /= running.std()
    sums = np.cumsum(running)
    running *= running
    squares = np.cumsum(running, out=running)
    best, least = int(cuts[0]), np.inf
    for first in range(0, cuts.size, _CUTS):
        some = cuts[first : first + _CUTS]
        errors = _errors(some, sums, squares)
        place = int(np.argmin(errors))
        if errors[place] < least:
            best, least = int(some[place]), float(errors[place])
    return best


def _errors(cuts: np.ndarray, sums: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """Return J for each cut."""
    total = float(sums.size)
    criterion = np.zeros(cuts.size)
    for count, first, second in (
        (cuts, sums[cuts - 1], squares[cuts - 1]),
        (total - cuts, sums[-1] - sums[cuts - 1], squares[-1] - squares[cuts - 1]),
    ):
        share = count / total
        variance = np.maximum(second / count - (first / count) ** 2, _LEAST_SPREAD**2)
        criterion += share * (0.5 * np.log(variance) - np.log(share))
    return criterion
