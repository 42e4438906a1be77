"""Scores in bins: what a histogram shows of ten rows or of ten million.

A few scores far outside would squeeze all others into one bin, so the range that is looked at may
end before them; they are counted in the bin at the end.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

_FARTHEST = 40.0
"""Robust standard deviations from the median to the end of the range that is looked at."""

_TIED = 1e-9
"""Quartiles nearer than this, as a part of the range, are one value up to rounding: they say
nothing about where the others are."""

_FEWEST, _MOST = 12, 80
"""Bins of a histogram."""

_NORMAL_QUARTILES = 1.349
"""Distance between the quartiles of a normal law, in its standard deviations."""


@dataclass(frozen=True, slots=True)
class Bins:
    """Edges (b + 1,) and counts (b,); scores beyond the edges are in the bins at the ends."""

    edges: Floats
    counts: Floats

    @property
    def centres(self) -> Floats:
        """The middle of each bin."""
        middle: Floats = (self.edges[1:] + self.edges[:-1]) / 2
        return middle


def view_range(scores: Floats) -> tuple[float, float]:
    """Return the ends of what is looked at.

    All scores, unless some are further than 40 robust deviations from the median, and half its
    width outside the interval that has 99 of 100: then what reaches further of the two.
    """
    low, high = float(scores.min()), float(scores.max())
    outer, lower, median, upper, inner = np.quantile(scores, (0.005, 0.25, 0.5, 0.75, 0.995))
    reach = _FARTHEST * (upper - lower) / _NORMAL_QUARTILES
    margin = (inner - outer) / 2
    low = max(low, float(min(median - reach, outer - margin)))
    high = min(high, float(max(median + reach, inner + margin)))
    if low == high:
        room = max(abs(low), 1.0) * 0.5
        return low - room, high + room
    return low, high


def bin_scores(
    scores: Floats, span: tuple[float, float] | None = None, n_bins: int | None = None
) -> Bins:
    """Count `scores` (n,) in equal bins of their range, as many as their number supports."""
    low, high = view_range(scores) if span is None else span
    count = _bin_count(scores, high - low) if n_bins is None else n_bins
    clipped = np.clip(scores, low, high)
    counts, edges = np.histogram(clipped, bins=count, range=(low, high))
    return Bins(edges, counts.astype(np.float64))


def _bin_count(scores: Floats, width: float) -> int:
    """Return Freedman and Diaconis' number of bins, within what an eye takes in."""
    lower, upper = np.quantile(scores, (0.25, 0.75))
    step = 2 * (upper - lower) / scores.size ** (1 / 3)
    if step <= _TIED * width:
        return _MOST if scores.size > _MOST else _FEWEST
    return int(min(max(math.ceil(width / step), _FEWEST), _MOST))


def smooth_density(scores: Floats, span: tuple[float, float], points: int = 512) -> Floats:
    """Return the density of `scores` at `points` places, by a normal kernel over fine bins.

    The bandwidth is Silverman's, 0.9 s n^-0.2 with the smaller of two measures of spread, and
    never under what the fine bins resolve.
    """
    low, high = span
    counts = bin_scores(scores, span, points).counts
    step = (high - low) / points
    lower, upper = np.quantile(scores, (0.25, 0.75))
    spread = float(np.std(np.clip(scores, low, high) / (high - low))) * (high - low)
    robust = float(upper - lower) / _NORMAL_QUARTILES
    bandwidth = (
        0.9
        * (min(spread, robust) if robust > _TIED * (high - low) else spread)
        * scores.size**-0.2
    )
    bandwidth = max(bandwidth, 1.5 * step)
    reach = min(math.ceil(4 * bandwidth / step), points)
    offsets = np.arange(-reach, reach + 1) * step / bandwidth
    kernel = np.exp(-0.5 * offsets * offsets)
    density = np.convolve(counts, kernel / kernel.sum())[reach : reach + points]
    result: Floats = density / (scores.size * step)
    return result
