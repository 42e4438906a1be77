"""What a report says: for each direction its value, its small side, its columns, its ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sightline._arrays import Array, take_rows, to_numpy
from sightline.scatter import Scatter
from sightline.split import Split, split_in_two
from sightline.views import MOST_GROUPS, Groups, main_columns, standard_weights, view_range
from sightline.views.bins import Floats

N_MAIN = 5
"""Columns that are named where there is room for few."""

N_WEIGHTS = 10
"""Columns whose weights are drawn."""

N_ENDS = 5
"""Rows that are shown from either end of a direction."""


@dataclass(frozen=True, slots=True)
class End:
    """The rows at one end of a direction, furthest first: positions, scores, main columns."""

    rows: np.ndarray[Any, np.dtype[np.intp]]
    scores: Floats
    values: Floats


@dataclass(frozen=True, slots=True)
class Direction:
    """One direction of a table.

    Attributes
    ----------
    number : from 1, best first.
    scores : (n,) of all rows.
    span : the ends of what is looked at.
    split : where the scores part in two.
    weights : (d,) of the columns, in standard units.
    index_value, p_value : or None where the estimator has none.
    standard_value : what the p-value compares: the index of the scores at variance 1.
    null_values : such values of the searches on which the p-value rests, empty where not known.
    high, low : the rows at its ends.
    """

    number: int
    scores: Floats
    span: tuple[float, float]
    split: Split
    weights: Floats
    index_value: float | None
    p_value: float | None
    standard_value: float | None
    null_values: Floats
    high: End
    low: End

    @property
    def name(self) -> str:
        """What people call it."""
        return f"Direction {self.number}"

    @property
    def main(self) -> list[int]:
        """Positions of the columns that matter most."""
        return main_columns(self.weights, N_MAIN)

    @property
    def beyond(self) -> int:
        """Rows outside of what is looked at."""
        outside = (self.scores < self.span[0]) | (self.scores > self.span[1])
        return int(np.count_nonzero(outside))


def read_directions(
    estimator: Any, rows: Array, scatter: Scatter, scores: Floats, p_values: Any
) -> list[Direction]:
    """Gather what is said of each direction (k) of a fitted estimator over `rows` (n, d)."""
    weights = standard_weights(estimator.components_, scatter)
    count = scores.shape[1]
    values = _one_each("index_values_", getattr(estimator, "index_values_", None), count)
    if p_values is None:
        p_values = getattr(estimator, "p_values_", None)
    chances = _one_each("p_values", p_values, count)
    compared = getattr(estimator, "standard_values_", None)
    standard = values if compared is None else _one_each("standard_values_", compared, count)
    nulls = np.asarray(to_numpy(getattr(estimator, "null_values_", ())), dtype=np.float64)
    directions = []
    for place in range(count):
        along = np.ascontiguousarray(scores[:, place])
        main = main_columns(weights[place], N_MAIN)
        directions.append(
            Direction(
                number=place + 1,
                scores=along,
                span=view_range(along),
                split=split_in_two(along),
                weights=weights[place],
                index_value=values[place],
                p_value=chances[place],
                standard_value=standard[place],
                null_values=nulls,
                high=_end(along, 1.0, main, rows),
                low=_end(along, -1.0, main, rows),
            )
        )
    return directions


def side_groups(directions: Sequence[Direction]) -> Groups:
    """Return the groups of rows without labels: the small sides, a row in the first it is on."""
    shown = directions[: MOST_GROUPS - 1]
    codes = np.zeros(directions[0].scores.size, dtype=np.intp)
    for direction in reversed(shown):
        codes[direction.split.small] = direction.number
    found, codes = np.unique(codes, return_inverse=True)
    names = [f"small side {number}" if number else "bulk" for number in found]
    return Groups(tuple(names), codes, np.bincount(codes))


def _end(scores: Floats, sign: float, main: list[int], rows: Array) -> End:
    """Return the rows of the largest scores (sign 1) or the smallest ones (sign -1)."""
    furthest = _smallest(-sign * scores, N_ENDS)
    table = to_numpy(take_rows(rows, furthest)).astype(np.float64)
    return End(furthest, scores[furthest], table[:, main])


def _smallest(values: Floats, count: int) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return positions of the smallest values, smallest first; of ties the first rows."""
    count = min(count, values.size)
    bound = np.partition(values, count - 1)[count - 1]
    candidates = np.flatnonzero(values <= bound)
    return candidates[np.argsort(values[candidates], kind="stable")][:count]


def _one_each(name: str, given: Any, count: int) -> list[float | None]:
    """Return one number a direction, or Nones where there are none."""
    if given is None:
        return [None] * count
    values = np.asarray(to_numpy(given), dtype=np.float64)
    if values.shape != (count,):
        raise ValueError(
            f"{name} have shape {values.shape}; give one for each of the {count} directions."
        )
    return [float(value) for value in values]
