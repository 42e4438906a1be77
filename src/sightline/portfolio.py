"""index="auto": several indices search, and what they find is pooled on one scale.

An index of 0.71 and another of 3.2 say nothing about each other. What compares is how far each
is beyond what the same search finds where there is nothing: with psi_j of the scores at variance
1, and the best of a search by index j on N(0, I) rows of the same shape having mean m_j and
standard deviation s_j,

    strength = (psi_j - m_j) / s_j.

m_j and s_j come from Monte-Carlo searches (`benchmarks/noise_levels.py`) at some shapes, held in
`noise_levels.json`, and in between from interpolation of their logarithms over log d and
log(n / d); more rows than the table has shrink both as n^-1/2, and more columns than it has count
as its most at the same n / d. The searches behind it are the two quick looks; a full search finds
a little more in noise, for every index alike. So a strength ranks; significance is the business of
`null_p_values`, which repeats the whole portfolio.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from sightline._arrays import Array, to_numpy
from sightline.indices import Index, make_index, selection_index
from sightline.selection import Scored, distinct, score_directions
from sightline.significance import standard_values_along
from sightline.solvers import Candidates

PORTFOLIO = ("relu2", "abs", "absmax", "kurtosis", "skewness")
"""A small group far out; sparse scores; groups of like size; heavy or light tails; lopsidedness.

"abs" and "absmax" are one index in both senses."""

AUTO = "auto"
"""The name that stands for all of them."""


def members(index: Any) -> tuple[Index, ...]:
    """Return the indices that `index` stands for: the portfolio's, or the one that it is."""
    names = PORTFOLIO if isinstance(index, str) and index == AUTO else (index,)
    return tuple(make_index(name) for name in names)


@dataclass(frozen=True, slots=True)
class Noise:
    """Mean and standard deviation of the best that a search finds in N(0, I) rows."""

    mean: float
    deviation: float


def noise_level(name: str, n: int, d: int, *, whitened: bool) -> Noise:
    """Return what a search of (n, d) rows by one of the portfolio's indices finds in noise.

    Parameters
    ----------
    name : the index that climbs; its own psi chooses.
    n, d : rows and columns, or principal axes.
    whitened : whether the rows are whitened by their own covariance.
    """
    table = _table()
    ratio = n / d
    most = table["ratios"][-1]
    place = (
        _place(table["columns"], d),
        _place(table["ratios"], ratio),
    )
    level = table["levels"]["exact" if whitened else "none"][name]
    shrunk = math.sqrt(min(1.0, most / ratio))
    excess, deviation = (shrunk * math.exp(_bilinear(level[part], place)) for part in (0, 1))
    return Noise(normal_value(make_index(name)) + excess, deviation)


@cache
def _table() -> dict[str, Any]:
    """Return the table of Monte-Carlo searches: logarithms of excess and deviation."""
    table: dict[str, Any] = json.loads(
        files("sightline").joinpath("noise_levels.json").read_text(encoding="utf-8")
    )
    return table


def _place(grid: Sequence[float], x: float) -> float:
    """Return where `x` lies among the grid's points, linear in the logarithm, clamped."""
    return float(np.interp(math.log(x), np.log(grid), np.arange(len(grid))))


def _bilinear(values: Any, place: tuple[float, float]) -> float:
    """Interpolate (a, b) values at a place in units of their positions."""
    rows = np.array([np.interp(place[1], np.arange(len(row)), row) for row in values])
    return float(np.interp(place[0], np.arange(rows.size), rows))


_SCORES = np.linspace(-12.0, 12.0, 24_001)
_WEIGHTS = np.exp(-0.5 * _SCORES * _SCORES)
_WEIGHTS /= _WEIGHTS.sum()
"""A fine grid of scores and the normal law on it: sums over it are integrals to six digits."""


@cache
def normal_value(index: Index) -> float:
    """Return the value of an index's psi, a mean over rows, for standard normal scores."""
    return float(_WEIGHTS @ selection_index(index).value(_SCORES, np))


@cache
def normal_spread(psi: Index) -> float:
    """Return the deviation, times sqrt(n), of psi of n normal scores at mean 0 and variance 1.

    What standardising takes away is the part of phi along 1, t and t^2 - 1.
    """
    t, phi = _SCORES, psi.value(_SCORES, np)
    parts = (np.ones_like(t), t, (t * t - 1) / math.sqrt(2))  # orthonormal under the law
    lost = sum(float(_WEIGHTS @ (phi * part)) ** 2 for part in parts)
    return math.sqrt(float(_WEIGHTS @ (phi * phi)) - lost)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The directions that are kept of several climbs, best first; arrays are on the host.

    Attributes
    ----------
    directions : (k, d) unit rows, the heavier tail of their scores positive.
    values : (k,) psi of the index that found each.
    clear : (k,) whether its scores are clearly of several modes.
    converged : (k,) whether it stands still.
    strengths : (k,) how far it is beyond noise; None where one index searched alone.
    members : (k,) which of the climbs found it.
    """

    directions: Array
    values: np.ndarray
    clear: np.ndarray
    converged: np.ndarray
    strengths: np.ndarray | None
    members: np.ndarray


def choose(
    found: Sequence[Candidates],
    rows: Array,
    *,
    count: int,
    minimum_angle: float,
    pooled: bool,
    whitened: bool,
) -> Chosen:
    """Score what each climb found by its own psi, and rank all of it on one scale.

    Parameters
    ----------
    found : the candidates, an entry for each index that has any.
    rows : (n, d) all rows, as they were climbed on.
    count : how many are kept at the most.
    minimum_angle : degrees that they keep from each other.
    pooled : whether several indices searched, so that strengths rank; else values do.
    whitened : whether the rows are whitened by their own covariance.
    """
    scored = [
        score_directions(one.directions, rows, one.climb.psi, weigh_modes=one.climb.weigh_modes)
        for one in found
    ]
    ranks = None
    if pooled:
        ranks = [
            strengths(one, these, rows, whitened=whitened)
            for one, these in zip(found, scored, strict=True)
        ]
    both = sum(scored[1:], start=scored[0])
    by = both.values if ranks is None else np.concatenate(ranks)
    order = np.lexsort((-by, ~both.clear))
    kept = order[distinct(to_numpy(both.directions)[order], minimum_angle, count)[0]]
    best = both.only(kept)
    sizes = [these.values.size for these in scored]
    return Chosen(
        best.directions,
        best.values,
        best.clear,
        np.concatenate([one.converged for one in found])[kept],
        None if ranks is None else by[kept],
        np.repeat(np.arange(len(found)), sizes)[kept],
    )


def strengths(found: Candidates, scored: Scored, rows: Array, *, whitened: bool) -> np.ndarray:
    """Return (m,) how far candidates are beyond noise; for a psi that the caller set, psi."""
    phi, psi = found.climb.phi, found.climb.psi
    standard = scored.values
    if not whitened:
        standard = standard_values_along(psi, scored.directions, rows)
    if psi.name != (phi.selection or phi.name):
        return standard  # one psi for all indices compares as it is
    noise = noise_level(phi.name, *rows.shape, whitened=whitened)
    beyond: np.ndarray = (standard - noise.mean) / noise.deviation
    return beyond
