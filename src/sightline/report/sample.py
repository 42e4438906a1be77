"""Which rows a page draws: all of them, or a sample that keeps every row of the small sides.

A page of a million rows draws at most 100,000. What is rare is what the page is for, so the rows
of the small sides stay, as long as they take no more than half the room; the others are drawn at
random, so many from each group. A drawn row stands for `weights` rows of the table: 1, or the
rows of its group over those drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

MOST_ROWS = 100_000
"""Rows that a page draws."""

_LEAST = 1000
"""Rows that every group gets before the rest are shared out by size."""

Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Rows of a table that are drawn.

    Attributes
    ----------
    rows : (m,) positions, rising.
    strata : (m,) positions in `weights`; 0 are rows that were kept whatever the sample.
    weights : (g + 1,) how many rows of the table a drawn row stands for.
    whole : (k,) whether every row of a direction's small side is drawn.
    """

    rows: np.ndarray[Any, np.dtype[np.intp]]
    strata: np.ndarray[Any, np.dtype[np.uint8]]
    weights: np.ndarray[Any, np.dtype[np.float64]]
    whole: tuple[bool, ...]


def draw_rows(
    sides: Sequence[Mask],
    codes: np.ndarray[Any, np.dtype[np.intp]],
    most: int,
    rng: np.random.Generator,
) -> Drawn:
    """Draw at most `most` of the rows that `codes` (n,) puts into groups.

    Parameters
    ----------
    sides : masks (n,) of the small sides.
    codes : (n,) group of each row, from 0.
    most : rows to draw.
    rng : what draws.
    """
    n_groups = int(codes.max()) + 1
    weights = np.ones(n_groups + 1)
    if codes.size <= most:
        rows = np.arange(codes.size)
        return Drawn(rows, np.zeros(rows.size, np.uint8), weights, (True,) * len(sides))
    kept = _keep_small(sides, most // 2)
    chosen, strata = [np.flatnonzero(kept)], [np.zeros(np.count_nonzero(kept), np.uint8)]
    rest = np.bincount(codes[~kept], minlength=n_groups)
    for group, quota in enumerate(_quotas(rest, most - chosen[0].size)):
        if quota == 0:
            continue
        members = np.flatnonzero((codes == group) & ~kept)
        chosen.append(rng.choice(members, quota, replace=False))
        strata.append(np.full(quota, group + 1, np.uint8))
        weights[group + 1] = members.size / quota
    rows = np.concatenate(chosen)
    order = np.argsort(rows)
    whole = tuple(bool(kept[side].all()) for side in sides)
    return Drawn(rows[order], np.concatenate(strata)[order], weights, whole)


def _keep_small(sides: Sequence[Mask], room: int) -> Mask:
    """Return the rows of all small sides that fit, the smallest first."""
    kept = np.zeros(sides[0].size, dtype=np.bool_)
    for side in sorted(sides, key=np.count_nonzero):
        both = kept | side
        if np.count_nonzero(both) > room:
            break
        kept = both
    return kept


def _quotas(counts: np.ndarray[Any, Any], room: int) -> list[int]:
    """Share `room` rows out: every group gets a few, and the rest goes by size."""
    least = np.minimum(counts, min(_LEAST, room // (2 * counts.size)))
    left = counts - least
    shares = (room - least.sum()) * left // max(int(left.sum()), 1)
    return [int(quota) for quota in np.minimum(counts, least + shares)]
