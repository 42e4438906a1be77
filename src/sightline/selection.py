"""Choosing among candidates: exact scores on all rows, orientation, duplicates, ranking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sightline._arrays import Array, full_products, like, namespace, take_rows, to_numpy
from sightline.indices import Dip, Index
from sightline.indices.contract import with_feature_axis
from sightline.rows import fold_rows, spaced_rows, sum_rows
from sightline.sphere import normalise
from sightline.sums import index_values

CLEAR_DIP = 0.75
"""Dip times sqrt(rows) from which scores are clearly of several modes.

One sample in 10^5 of the least favourable unimodal law passes it, and none of the best of 512
climbed and polished directions of normal rows did at six shapes from 181 x 64 to 5000 x 20.
"""

SEARCHED_DIP = 0.27
"""Times sqrt(columns), the same where modes are what was searched for.

Any table has directions along which it parts, the more the more columns there are: the best that
absmax found in normal rows had 0.14 to 0.25 sqrt(d), at 19 shapes from 12 x 4 to 3000 x 100.
"""

_DIP_ROWS = 20_000
"""Rows whose dip is taken where there are more; they are evenly spaced."""

_DIP_SCORES = 2**21
"""Scores whose dips are taken in all: about a quarter of a second."""

_GRAM_BLOCK = 256
"""Candidates whose angles to all others are held at once."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Directions, best first, with exact values on all rows.

    Attributes
    ----------
    directions : (k, d) unit rows, the heavier tail of their scores on the positive side.
    values : (k,) values of the selection index, on the host.
    sources : (k,) position of each among the candidates, on the host.
    met : (k,) how many starts came to the same line, on the host.
    clear : (k,) whether its scores are clearly of several modes; False where nobody looked.
    """

    directions: Array
    values: np.ndarray
    sources: np.ndarray
    met: np.ndarray
    clear: np.ndarray


def orient(directions: Array, X: Array) -> Array:
    """Turn each direction so that the third moment of its scores is not negative.

    The heavier tail is then on the positive side. A third moment of exactly zero leaves the
    choice to the direction's largest entry, which becomes positive.
    """

    def cubes(rows: Array) -> Array:
        scores = rows @ directions.T
        return sum_rows(scores * scores * scores)

    third = to_numpy(fold_rows(cubes, X, width=directions.shape[0]))
    return _turned(directions, _to_be_turned(directions, third))


def _to_be_turned(directions: Array, third: np.ndarray) -> np.ndarray:
    """Return the mask (m,) of directions whose heavier tail is on the negative side."""
    host = to_numpy(directions)
    largest = np.abs(host).argmax(axis=1)
    entry = host[np.arange(host.shape[0]), largest]
    return np.asarray(np.where(third != 0, third, entry) < 0)


def _turned(directions: Array, turn: np.ndarray) -> Array:
    return directions * like(np.where(turn, -1.0, 1.0), directions)[:, None]


def _oriented_values(directions: Array, X: Array, index: Index) -> tuple[Array, np.ndarray]:
    """Turn directions as `orient` does, and return them with their values, in one pass.

    Turning changes the sign of each score and no digit, so both sides are valued from the same
    product: a table that is read for it is read once.
    """
    xp = namespace(directions, X)

    def sums(rows: Array) -> Array:
        scores = rows @ directions.T
        sides = (scores,) if index.even else (scores, -scores)
        values = [with_feature_axis(index, index.value(t, xp), t) for t in sides]
        third = sum_rows(scores * scores * scores)
        return xp.concat((third[None, :], *(sum_rows(value) for value in values)))

    with full_products(X):
        total = fold_rows(sums, X, width=directions.shape[0])
    turn = _to_be_turned(directions, to_numpy(total[0, :]))
    upright, *turned = (
        to_numpy(index.combine(total[first : first + index.n_features, :] / X.shape[0], xp))
        for first in range(1, total.shape[0], index.n_features)
    )
    values = np.where(turn, turned[0], upright) if turned else upright
    return _turned(directions, turn), values


@dataclass(frozen=True, slots=True)
class Scored:
    """Candidates, oriented and scored on some rows.

    Attributes
    ----------
    directions : (m, d) unit rows, the heavier tail of their scores on the positive side.
    values : (m,) values of the selection index, on the host.
    clear : (m,) whether its scores are clearly of several modes; False where nobody looked.
    """

    directions: Array
    values: np.ndarray
    clear: np.ndarray

    def only(self, positions: np.ndarray) -> Scored:
        """Return some of them, in the order of `positions`."""
        directions = take_rows(self.directions, positions)
        return Scored(directions, self.values[positions], self.clear[positions])

    def __add__(self, other: Scored) -> Scored:
        """Put candidates that were scored on the same rows behind these."""
        directions = namespace(self.directions).concat((self.directions, other.directions))
        values = np.concatenate((self.values, other.values))
        return Scored(directions, values, np.concatenate((self.clear, other.clear)))

    def ranked(
        self, count: int, minimum_angle: float = 0.0, weights: np.ndarray | None = None
    ) -> Ranked:
        """Order them, clear ones first, by value; drop what is too near a better one.

        Parameters
        ----------
        count : how many to return at the most.
        minimum_angle : in degrees; a candidate nearer than this to a better one (as a line,
            either sign) is the same optimum found again.
        weights : (m,) how many starts each candidate stands for; 1 by default.
        """
        order = np.lexsort((-self.values, ~self.clear))
        behind = np.ones(self.values.shape, dtype=np.int64) if weights is None else weights
        host = to_numpy(self.directions)[order]
        kept, met = distinct(host, minimum_angle, count, behind[order])
        chosen = order[kept]
        best = self.only(chosen)
        return Ranked(best.directions, best.values, chosen, met, best.clear)


def score_directions(
    directions: Array,
    X: Array,
    index: Index,
    *,
    weigh_modes: bool = False,
    modes_sought: bool | None = None,
) -> Scored:
    """Orient directions (m, d) and score them on all rows of `X` (n, d).

    Parameters
    ----------
    directions : (m, d) candidates.
    X : (n, d) rows to score on.
    index : the selection index psi.
    weigh_modes : look which of them have scores that are clearly of several modes (`CLEAR_DIP`);
        these rank before all others, by value among themselves. Heavy tails raise an index, but
        not the dip; groups that overlap have no dip to speak of, and are left to the index.
    modes_sought : whether the directions come from a search for modes, of which more is asked
        (`SEARCHED_DIP`); None is what the index declares.
    """
    unit = normalise(directions)
    if index.whole_sample:
        oriented = orient(unit, X)
        values = to_numpy(index_values(index, oriented, X))
    else:
        oriented, values = _oriented_values(unit, X, index)
    clear = np.zeros(values.shape, dtype=bool)
    if weigh_modes:
        sought = index.seeks_modes if modes_sought is None else modes_sought
        least = max(CLEAR_DIP, SEARCHED_DIP * X.shape[1] ** 0.5) if sought else CLEAR_DIP
        clear = clearly_multimodal(oriented, X, values, least)
    return Scored(oriented, values, clear)


def clearly_multimodal(
    directions: Array, X: Array, values: np.ndarray, least: float = CLEAR_DIP
) -> np.ndarray:
    """Say for each direction whether dip * sqrt(rows) of its scores is over `least`.

    A fixed budget of scores is looked at. Where it does not reach for all directions, their dips
    on fewer rows say which are worth it, beside those of the largest `values`; the others count
    as unclear. In heavy-tailed surroundings the largest values alone would all be outliers.
    """
    rows = spaced_rows(X, _DIP_ROWS)
    budget = max(2, _DIP_SCORES // rows.shape[0])
    looked_at = np.argsort(-values, kind="stable")
    if looked_at.size > budget:
        few = spaced_rows(X, _DIP_SCORES // values.size)
        screened = np.argsort(-to_numpy(index_values(Dip(), directions, few)), kind="stable")
        looked_at = np.union1d(looked_at[: budget // 2], screened[: budget // 2])
    dips = to_numpy(index_values(Dip(), take_rows(directions, looked_at), rows))
    clear = np.zeros(values.shape, dtype=bool)
    clear[looked_at] = is_clear(dips, rows, least)
    return clear


def is_clear(dips: np.ndarray, rows: Array, least: float = CLEAR_DIP) -> np.ndarray:
    """Say which dips of scores of `rows` are beyond what a single mode gives."""
    return np.asarray(dips * np.sqrt(rows.shape[0]) > least)


def distinct(
    directions: np.ndarray,
    minimum_angle: float,
    count: int | None = None,
    weights: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return positions of the first `count` unit rows that keep `minimum_angle` from all before.

    Beside them, for each, how much stands behind it: the weights (by default 1 each) of itself
    and of the rows that it displaced.
    """
    total = directions.shape[0]
    count = total if count is None else count
    weights = np.ones(total, dtype=np.int64) if weights is None else weights
    if minimum_angle <= 0:
        kept = np.arange(min(count, total))
        return kept, weights[kept]
    nearest = np.cos(np.deg2rad(minimum_angle))
    free = np.ones(total, dtype=bool)
    positions: list[int] = []
    met: list[int] = []
    for first in range(0, total, _GRAM_BLOCK):
        near = np.abs(directions[first : first + _GRAM_BLOCK] @ directions.T) > nearest
        np.fill_diagonal(near[:, first:], val=True)
        alone = near.sum(axis=1) == 1  # as most are where few have met: nothing to displace
        for position, same in enumerate(near, start=first):
            if not free[position] or len(positions) == count:
                continue
            positions.append(position)
            if alone[position - first]:
                met.append(int(weights[position]))
                continue
            displaced = same & free
            free &= ~displaced
            met.append(int(weights[displaced].sum()))
        if len(positions) == count:
            break
    return np.array(positions, dtype=np.int64), np.array(met, dtype=np.int64)
