"""Choosing among candidates: exact scores on all rows, orientation, duplicates, ranking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sightline._arrays import Array, namespace, take_rows, to_numpy
from sightline.indices import Index
from sightline.rows import fold_rows
from sightline.sphere import normalise
from sightline.sums import index_values, sum_rows


@dataclass(frozen=True, slots=True)
class Ranked:
    """Directions, best first, with exact values on all rows.

    Attributes
    ----------
    directions : (k, d) unit rows, the heavier tail of their scores on the positive side.
    values : (k,) values of the selection index, on the host.
    starts : (k,) which start each one came from, on the host.
    """

    directions: Array
    values: np.ndarray
    starts: np.ndarray


def orient(directions: Array, X: Array) -> Array:
    """Turn each direction so that the third moment of its scores is not negative.

    The heavier tail is then on the positive side. A third moment of exactly zero leaves the
    choice to the direction's largest entry, which becomes positive.
    """
    xp = namespace(directions, X)

    def cubes(rows: Array) -> Array:
        scores = rows @ directions.T
        return sum_rows(scores * scores * scores)

    third = to_numpy(fold_rows(cubes, X, width=directions.shape[0]))
    host = to_numpy(directions)
    largest = np.abs(host).argmax(axis=1)
    entry = host[np.arange(host.shape[0]), largest]
    flip = np.where(third != 0, third, entry) < 0
    signs = xp.asarray(np.where(flip, -1.0, 1.0).astype(host.dtype), device=directions.device)
    return directions * signs[:, None]


def rank_directions(
    directions: Array, X: Array, index: Index, *, count: int, minimum_angle: float = 0.0
) -> Ranked:
    """Orient, score on all rows, order by value, and drop what is too near a better one.

    Parameters
    ----------
    directions : (m, d) candidates.
    X : (n, d) rows to score on.
    index : the selection index psi.
    count : how many to return at the most.
    minimum_angle : in degrees; a candidate nearer than this to a better one (as a line, either
        sign) is the same optimum found again.
    """
    oriented = orient(normalise(directions), X)
    values = to_numpy(index_values(index, oriented, X))
    order = np.argsort(-values, kind="stable")
    kept = _distinct(to_numpy(oriented)[order], count, minimum_angle)
    chosen = order[kept]
    return Ranked(take_rows(oriented, chosen), values[chosen], chosen)


def _distinct(directions: np.ndarray, count: int, minimum_angle: float) -> np.ndarray:
    """Return positions of the first `count` rows that keep `minimum_angle` from all before."""
    if minimum_angle <= 0:
        return np.arange(min(count, directions.shape[0]))
    nearest = np.cos(np.deg2rad(minimum_angle))
    kept: list[int] = []
    for position, direction in enumerate(directions):
        if len(kept) == count:
            break
        if not kept or np.abs(directions[kept] @ direction).max() <= nearest:
            kept.append(position)
    return np.array(kept, dtype=np.int64)
