"""Rows that were measured, and the fit between them.

`plan_table.csv`, made by `benchmarks/plan_table.py`, holds for cells (method, signal, d, p) the
rows at which half of all planted data sets are solved, |<u, u*>| >= 0.9, and the width of that
transition in log n. Between cells the rows of a method and a signal are

    c_1 / p + c_2 d + c_3 d^a k^b :

enough rows of the rare part, enough to know d columns, and the climb. k is the weakness of the
signal, by which the low-degree bound goes: 1 / (E nu^3)^2 for clusters (d^1.5 k) and
1 / (E nu^4 - 3) for sparse vectors (d^2 k^2). For the paper's algorithm, which spends
starts + 2 s batches, they are the rows of a batch. On sparse vectors the adaptive solver climbs
by |t|, which sees more than the fourth moment: there the pole of k lies beyond 1/3, where it fits
best.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from sightline.datasets.signals import BernoulliRademacher, ImbalancedClusters

COLUMNS = ("method", "signal", "d", "p", "rows", "width", "trials")
TABLE = Path(__file__).with_name("plan_table.csv")
METHODS = ("adaptive", "spectral", "two-step")


@dataclass(frozen=True, slots=True)
class Family:
    """Signals by their fraction p, below `limit`, where the moment they are found by vanishes."""

    law: Callable[[float], Any]
    limit: float
    weakness: Callable[[float], float]
    spectral: str


FAMILIES = {
    "clusters": Family(
        ImbalancedClusters, 1 / 2, lambda p: p * (1 - p) / (1 - 2 * p) ** 2, "max-skew"
    ),
    "sparse": Family(BernoulliRademacher, 1 / 3, lambda p: p / (1 - 3 * p), "cov4max"),
}


_WEAKNESS: dict[tuple[str, str], Callable[[float], float]] = {
    ("adaptive", "sparse"): lambda p: p / (1 - 2.2 * p)
}
"""Where it is not that of the family."""


def paper_starts(p: float) -> int:
    """Return ceil(5 / p), starts of which one is in the rare part but for exp(-5) = 0.7%."""
    return math.ceil(5 / p)


def paper_steps(d: int) -> int:
    """Return s = 2 log2 d, the steps of each of the paper's two runs."""
    return max(2, math.ceil(2 * math.log2(d)))


@dataclass(frozen=True, slots=True)
class MeasuredNeed:
    """The fit to the cells of one method and signal.

    Attributes
    ----------
    method, signal : which.
    cells : (d, p) of every cell.
    coefficients : log c_1, log c_2, log c_3, a, b.
    width : the median width of the transition, in log rows.
    worst_ratio : the largest factor between a cell and the fit, either way.
    """

    method: str
    signal: str
    cells: tuple[tuple[int, float], ...]
    coefficients: tuple[float, ...]
    width: float
    worst_ratio: float

    def rows(self, d: int, p: float, confidence: float) -> int:
        """Return the rows with which the method finds the direction with this probability.

        At least d + 1, one a batch, and so many that with this probability one is in the rare
        part.
        """
        cell = _predictors(self.method, self.signal, [(d, p)])
        half = math.exp(float(_log_rows(np.array(self.coefficients), cell)[0]))
        starts, batches = _spent(self.method, d, p)
        margin = math.exp(self.width * math.log(confidence / (1 - confidence)))
        seen = math.log1p(-confidence) / math.log1p(-p)
        least = max(d + 1, starts + batches, math.ceil(seen))
        return max(least, math.ceil((starts + batches * half) * margin))

    def is_outside(self, d: int, p: float) -> bool:
        """Say whether some quarter of the plane around (d, p) holds no cell."""
        return not all(
            any(
                up * (cell_d - d) >= 0 and right * (cell_p - p) >= 0
                for cell_d, cell_p in self.cells
            )
            for up in (-1, 1)
            for right in (-1, 1)
        )

    def validity(self) -> str:
        """Say which cells were measured."""
        ds, ps = zip(*self.cells, strict=True)
        return f"d {min(ds)} to {max(ds)}, p {min(ps):g} to {max(ps):g}"


@cache
def measured_need(method: str, signal: str) -> MeasuredNeed | None:
    """Return the fit to the table's cells of a method and signal, None where it has none."""
    with TABLE.open(newline="") as stream:
        lines = [
            line
            for line in csv.DictReader(stream)
            if line["method"] == method and line["signal"] == signal
        ]
    if not lines:
        return None
    return fit_need(method, signal, lines)


def fit_need(method: str, signal: str, lines: Sequence[dict[str, str]]) -> MeasuredNeed:
    """Return the fit to these lines of a table."""
    cells = tuple((int(line["d"]), float(line["p"])) for line in lines)
    logs, predictors = [], _predictors(method, signal, cells)
    for (d, p), line in zip(cells, lines, strict=True):
        starts, batches = _spent(method, d, p)
        logs.append(math.log((float(line["rows"]) - starts) / batches))
    # The bounds keep a term finite that the cells do not show.
    fitted = least_squares(
        lambda coefficients: _log_rows(coefficients, predictors) - logs,
        x0=[1.5, 0.5, 0.5, 1.5, 1.0],
        bounds=([-3, -3, -6, 0.5, 0.25], [6, 6, 6, 3, 4]),
    )
    return MeasuredNeed(
        method,
        signal,
        cells,
        tuple(fitted.x.tolist()),
        float(np.median([float(line["width"]) for line in lines])),
        math.exp(float(np.max(np.abs(fitted.fun)))),
    )


def _spent(method: str, d: int, p: float) -> tuple[int, int]:
    """Return how many rows are spent beside the batches, and how many batches."""
    return (paper_starts(p), 2 * paper_steps(d)) if method == "two-step" else (0, 1)


def _predictors(method: str, signal: str, cells: Sequence[tuple[int, float]]) -> np.ndarray:
    """Return log 1/p, log d and log k of each cell, (3, cells)."""
    weakness = _WEAKNESS.get((method, signal), FAMILIES[signal].weakness)
    return np.log([[1 / p, d, weakness(p)] for d, p in cells]).T


def _log_rows(coefficients: np.ndarray, predictors: np.ndarray) -> np.ndarray:
    """Return log(c_1 / p + c_2 d + c_3 d^a k^b)."""
    rare, columns, climb, a, b = coefficients
    inverse_p, d, weakness = predictors
    terms = (rare + inverse_p, columns + d, climb + a * d + b * weakness)
    return np.asarray(np.logaddexp.reduce(terms))
