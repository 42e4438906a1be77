"""A grid that survives its process: cells run in any order, and end as the same table."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from sightline._options import check_choice
from sightline.experiments.figure import SCALES, Cell, Context, Figure, Row, digest_of, key_of
from sightline.experiments.provenance import versions
from sightline.experiments.store import Store, sole_run
from sightline.experiments.workers import Crew

Record: TypeAlias = dict[str, Any]
"""What the store keeps of a finished cell."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: cells done of all, and the part of the work that they were."""

    done: int
    total: int
    part: float


@dataclass(frozen=True, slots=True)
class Run:
    """A finished grid.

    Attributes
    ----------
    figure, scale, context : what ran.
    store : its folder.
    rows : all results, in the order of the grid.
    seconds : what the cells took, added up, over all interruptions.
    computed : how many cells this call computed; the others were there.
    """

    figure: Figure
    scale: str
    context: Context
    store: Store
    rows: list[Row]
    seconds: float
    computed: int


def run_grid(
    figure: Figure,
    scale: str,
    folder: Path,
    context: Context,
    crew: Crew,
    *,
    force: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Run:
    """Compute the cells that are not in the folder yet, and write `results.parquet`."""
    cells = list(figure.cells[check_choice("scale", scale, SCALES)])
    settings = {
        "figure": figure.name,
        "scale": scale,
        "grid": digest_of(cells),
        "seed": context.seed,
        "device": context.device,
        "versions": versions(context.device),
    }
    with sole_run(folder):
        store = Store(folder, settings, force=force)
        records, computed = _complete(store, figure, cells, context, crew, progress)
        rows = [{**record["cell"], **row} for record in records for row in record["rows"]]
        store.write_results(rows)
    seconds = sum(record["seconds"] for record in records)
    return Run(figure, scale, context, store, rows, seconds, computed)


def _complete(  # noqa: PLR0917  (private, called once)
    store: Store,
    figure: Figure,
    cells: list[Cell],
    context: Context,
    crew: Crew,
    progress: Callable[[Progress], None] | None,
) -> tuple[list[Record], int]:
    """Compute what is missing; return all records in the order of the grid, and how many."""
    records = store.finished(cells)
    left = [cell for cell in cells if key_of(cell) not in records]
    meter = _Meter(figure, cells, left, progress)
    for place, (rows, seconds) in crew(
        compute, [(figure.measure, cell, context) for cell in left]
    ):
        cell = left[place]
        records[key_of(cell)] = store.write(cell, rows, seconds)
        meter.advance(cell)
    return [records[key_of(cell)] for cell in cells], len(left)


def compute(
    measure: Callable[[Cell, Context], list[Row]], cell: Cell, context: Context
) -> tuple[list[Row], float]:
    """Return the rows of a cell and the seconds that they took."""
    began = time.perf_counter()
    return measure(cell, context), time.perf_counter() - began


class _Meter:
    """The part of the work that is done, by what the figure says that its cells cost."""

    def __init__(
        self,
        figure: Figure,
        cells: list[Cell],
        left: list[Cell],
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._cost = figure.cost
        self._tell: Callable[[Progress], Any] = progress or (lambda _: None)
        self._total, self._done = len(cells), len(cells) - len(left)
        self._left = self._all = sum(map(self._cost, left))

    def advance(self, cell: Cell) -> None:
        self._done += 1
        self._left -= self._cost(cell)
        self._tell(Progress(self._done, self._total, 1 - self._left / self._all))
