"""The slope of a transition in (log2 d, log2 n), and how sure it is."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from sightline.experiments.figure import Row
from sightline.experiments.summary import crossing, slope, values_of

LEVEL = 0.5
"""The mean alignment at which a transition is placed."""

LARGEST = 3
"""Dimensions that slopes are fitted to: the largest whose transition is inside the grid."""

FEW = 5
"""Data sets under which their spread, and so the error of a slope, is not known well enough."""

_REDRAWN = 200
"""Times that data sets are drawn anew for the error of a slope."""

Values: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


class Panel:
    """Alignments (d, n, sets) of one map, d and n ascending."""

    def __init__(self, rows: list[Row]) -> None:
        self.d, self.n = (sorted(set(values_of(rows, name))) for name in ("d", "n"))
        found = {(row["d"], row["n"], row["set"]): row["alignment"] for row in rows}
        sets = values_of(rows, "set")
        self.values = np.array([[[found[d, n, k] for k in sets] for n in self.n] for d in self.d])

    def means(self) -> Values:
        """Return the mean over data sets, (d, n)."""
        return np.asarray(self.values.mean(axis=2))

    def transitions(self, means: Values) -> dict[int, float]:
        """Return where each d passes the level, if that is inside the grid of n."""
        found = {d: crossing(self.n, line, LEVEL) for d, line in zip(self.d, means, strict=True)}
        return {d: at for d, at in found.items() if at is not None and at > self.n[0]}

    def slope(self, where: dict[int, float]) -> float | None:
        """Return the slope over the largest dimensions, None where too few are inside."""
        d, n = list(where)[-LARGEST:], list(where.values())[-LARGEST:]
        return slope(d, n)[0] if len(d) == LARGEST else None

    def slope_error(self) -> float | None:
        """Return the standard deviation of the slope over data sets drawn anew."""
        rng, count = np.random.default_rng(0), self.values.shape[2]
        slopes = []
        for _ in range(_REDRAWN):
            drawn = rng.integers(count, size=self.values.shape)
            means = np.take_along_axis(self.values, drawn, axis=2).mean(axis=2)
            slopes.append(self.slope(self.transitions(means)))
        known = [one for one in slopes if one is not None]
        if count < 2 or len(known) < 2:
            return None
        # Draws from k values have only (k - 1) / k of the variance that they estimate.
        return float(np.std(known) * math.sqrt(count / (count - 1)))
