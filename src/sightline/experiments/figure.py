"""What a figure of the paper declares: cells, a pure measurement, a summary, a judgement.

    cells -> measure(cell, context) -> rows -> summarise -> draw, judge

A cell is a flat mapping of JSON scalars; it is all that a measurement may depend on, beside the
seed, the device and the folder of real data that `Context` holds. So a cell has the same rows
wherever and whenever it runs.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from matplotlib.figure import Figure as Picture

from sightline._arrays import Array

Cell: TypeAlias = dict[str, Any]
"""One task of a grid: names and JSON scalars."""

Row: TypeAlias = dict[str, Any]
"""One row of results or of a summary."""

SCALES = ("smoke", "quick", "paper")
"""Seconds, to see that it runs; minutes on two cores; the printed grid."""


@dataclass(frozen=True, slots=True)
class Context:
    """What a measurement may use beside its cell.

    Attributes
    ----------
    seed : of the whole run; a measurement draws from `seed_of`, never from this.
    device : "cpu" (NumPy) or "cuda" (torch).
    data_home : the folder of real data, or None for the loaders' own.
    """

    seed: int
    device: str = "cpu"
    data_home: Path | None = None

    def seed_of(self, *parts: Any) -> int:
        """Return a seed that the run's seed and `parts` (JSON scalars or mappings) determine.

        Equal parts give equal seeds whatever the grid around them: methods that name the same
        parts see the same data.
        """
        return int.from_bytes(_hash([self.seed, *parts])[:8])

    def put(self, X: np.ndarray[Any, Any]) -> Array:
        """Return the rows on the device: a torch tensor on a GPU, NumPy's own array otherwise."""
        if self.device == "cpu":
            return X
        import torch  # noqa: PLC0415  (optional, and slow to load)

        return torch.from_numpy(np.ascontiguousarray(X)).to(self.device)


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement of the paper beside what was measured; `held` is None where it is open."""

    claim: str
    held: bool | None
    evidence: str


@dataclass(frozen=True)
class Figure:
    """A figure of the paper, as data and functions.

    Attributes
    ----------
    name : what `sightline reproduce` calls it.
    title : one line for reports and pictures.
    claim : what the paper says of it, in our words.
    cells : the grid of each scale, in the order in which it runs.
    measure : the rows of a cell; the cell's own entries are added to each.
    summarise : the numbers behind the picture, from all rows in the order of the grid.
    draw : the picture, from rows and summary.
    judge : what held, from the summary.
    deviations : where the run departs from the paper's text or has to read it one way.
    prepare : loads real data once before any cell does; FileNotFoundError where there are none.
    cost : how long a cell takes beside others, for the time left.
    """

    name: str
    title: str
    claim: str
    cells: Mapping[str, Sequence[Cell]]
    measure: Callable[[Cell, Context], list[Row]]
    summarise: Callable[[list[Row]], list[Row]]
    draw: Callable[[list[Row], list[Row]], Picture]
    judge: Callable[[list[Row]], list[Finding]]
    deviations: tuple[str, ...] = ()
    prepare: Callable[[Context], Any] = lambda _: None
    cost: Callable[[Cell], float] = lambda _: 1.0


def grid(**axes: Iterable[Any]) -> list[Cell]:
    """Return every combination of the axes' values, the last axis running fastest."""
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def key_of(cell: Cell) -> str:
    """Return the name of a cell: 20 hex digits that its entries determine."""
    return _hash(cell).hex()[:20]


def digest_of(content: Any) -> str:
    """Return 20 hex digits that JSON content determines."""
    return _hash(content).hex()[:20]


def _hash(content: Any) -> bytes:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).digest()
