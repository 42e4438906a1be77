"""How many rows are needed: measured for what runs (`plan_fit`), computed for what bounds it.

Measured are signals without spread, which take few values: exact solutions exist then, and more
rows are needed where the values blur.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sightline._options import check_choice, check_count, check_number
from sightline.theory.low_degree import default_degree, low_degree_threshold
from sightline.theory.plan_fit import (
    FAMILIES,
    METHODS,
    MeasuredNeed,
    measured_need,
    paper_starts,
    paper_steps,
)

MOST_COLUMNS = 10**9
LEAST_P = 1e-12
MOST_ROWS = 10**15
"""Plans further out than this are sums of powers with no meaning."""


@dataclass(frozen=True, slots=True)
class Need:
    """Rows for one method or bound, and where the number comes from.

    Attributes
    ----------
    name : what needs them.
    rows : how many.
    extrapolated : whether d and p lie outside the cells that were measured.
    note : a remark for people.
    """

    name: str
    rows: int
    extrapolated: bool
    note: str


@dataclass(frozen=True, slots=True)
class SamplePlan:
    """Rows needed in d columns for a planted part of fraction p, fewest first."""

    d: int
    p: float
    signal: str
    confidence: float
    needs: tuple[Need, ...]

    def __str__(self) -> str:
        """Show one line a method."""
        head = (
            f"{self.signal} of fraction {self.p:g}, without spread, in {self.d} columns, "
            f"found with probability {self.confidence:g}"
        )
        width = max(len(need.name) for need in self.needs)
        digits = max(len(f"{need.rows:,}") for need in self.needs)
        lines = [
            f"  {need.name:{width}}  {need.rows:>{digits},}  {need.note}" for need in self.needs
        ]
        return "\n".join((head, *(line.rstrip() for line in lines)))


@dataclass(frozen=True, slots=True)
class RarestPart:
    """The fractions that n rows of d columns show.

    Attributes
    ----------
    n, d, signal, confidence, method : what was asked.
    p : the smallest fraction that a method finds; None where the rows show none.
    largest_p : the largest one, up to which they show all: near the limit of the family, where
        the parts are alike, more rows are needed again.
    extrapolated : whether d and p lie outside the cells that were measured.
    """

    n: int
    d: int
    signal: str
    confidence: float
    method: str
    p: float | None
    largest_p: float | None
    extrapolated: bool

    def __str__(self) -> str:
        """Show one line."""
        where = f"{self.n:,} rows of {self.d} columns"
        if self.p is None:
            return f"{_NAMES[self.method]}: {where} are too few for {self.signal} of any fraction"
        remark = "; extrapolated" if self.extrapolated else ""
        return (
            f"{_NAMES[self.method]}: {where} show {self.signal} from a fraction of {self.p:.3g} "
            f"({self.p * self.n:.0f} rows) to {self.largest_p:.3g}, with probability "
            f"{self.confidence:g}{remark}"
        )


def plan_samples(
    d: int, p: float, signal: str = "clusters", confidence: float = 0.9
) -> SamplePlan:
    """Return the rows that each method needs, and the bounds under all of them.

    Parameters
    ----------
    d : columns, 2 to 10^9.
    p : fraction of the rare part: at least 1e-12, and below 1/2 for clusters, below 1/3 for sparse
        vectors.
    signal : "clusters" (`ImbalancedClusters`) or "sparse" (`BernoulliRademacher`).
    confidence : probability with which the direction is found, in (0, 1).
    """
    d, family = _checked_columns(d), FAMILIES[check_choice("signal", signal, FAMILIES)]
    p = check_number("p", p, low=LEAST_P, high=family.limit, open_high=True)
    confidence = _checked_confidence(confidence)
    needs = [
        Need("information limit", d + 1, False, "no method can do with fewer"),
        Need(
            "low-degree bound",
            low_degree_threshold(family.law(p), d),
            False,
            f"the norm at degree {default_degree(d)} is at most 2 with fewer",
        ),
    ]
    for method in METHODS:
        need = measured_need(method, signal)
        if need is not None:
            needs.append(_need(need, d, p, need.rows(d, p, confidence)))
    return SamplePlan(d, p, signal, confidence, tuple(sorted(needs, key=lambda need: need.rows)))


def rarest_part(
    n: int, d: int, signal: str = "clusters", confidence: float = 0.9, method: str = "adaptive"
) -> RarestPart:
    """Return the smallest fraction that a method finds in n rows of d columns.

    Parameters
    ----------
    n, d : rows and columns.
    signal, confidence : as for `plan_samples`.
    method : "adaptive", "spectral" or "two-step".
    """
    n, d = check_count("n", n, at_most=MOST_ROWS), _checked_columns(d)
    family = FAMILIES[check_choice("signal", signal, FAMILIES)]
    confidence = _checked_confidence(confidence)
    need = measured_need(check_choice("method", method, METHODS), signal)
    if need is None:
        raise ValueError(f"method={method!r} has no measured rows for signal={signal!r}.")
    fractions = np.geomspace(min(1 / n, family.limit / 2), 0.999 * family.limit, 2000).tolist()
    enough = [p for p in fractions if need.rows(d, p, confidence) <= n]
    if not enough:
        outside = need.is_outside(d, fractions[0])
        return RarestPart(n, d, signal, confidence, method, None, None, outside)
    outside = need.is_outside(d, enough[0])
    return RarestPart(n, d, signal, confidence, method, enough[0], enough[-1], outside)


_NAMES = {
    "adaptive": "adaptive solver",
    "spectral": "spectral method",
    "two-step": "paper's algorithm",
}


def _need(measured: MeasuredNeed, d: int, p: float, rows: int) -> Need:
    notes = []
    if measured.method == "spectral":
        notes.append(FAMILIES[measured.signal].spectral)
    if measured.method == "two-step":
        starts, steps = paper_starts(p), paper_steps(d)
        batch = math.ceil((rows - starts) / (2 * steps))
        notes.append(f"{starts:,} starts + 2 x {steps} steps of {batch:,} fresh rows")
    outside = measured.is_outside(d, p)
    if outside:
        notes.append(f"extrapolated from {measured.validity()}")
    return Need(_NAMES[measured.method], rows, outside, "; ".join(notes))


def _checked_columns(d: int) -> int:
    return check_count("d", d, at_least=2, at_most=MOST_COLUMNS)


def _checked_confidence(confidence: float) -> float:
    return check_number("confidence", confidence, low=0, high=1, open_low=True, open_high=True)
