"""Rows of a file or a store, read in runs on several threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np

from sightline._arrays import check_finite
from sightline._threads import ordered_map, thread_count
from sightline.lazy.table import ROW_BLOCK, Host, LazyRows, run_length

_DENSE = 4
"""A run is read whole where one of this many of its blocks is wanted, else block by block."""

_EXACT_INTEGER = 2**53
"""The largest integer up to which a float64 holds every whole number."""

Part = TypeVar("Part", bound=Any)


class StoredRows(LazyRows):
    """Rows of a file or a store that can be read from any row on.

    Parameters
    ----------
    read : maps (start, stop) to those rows; called from several threads.
    shape, dtype : of the store.
    name : for messages.
    columns : names of the columns, or None.
    chunked : whether reading one row takes the store as long as reading many.

    Every block is looked through for NaN and infinity when it is first read.
    """

    def __init__(
        self,
        read: Callable[[int, int], Host],
        shape: tuple[int, int],
        dtype: Any,
        *,
        name: str = "X",
        columns: Any = None,
        chunked: bool = False,
    ) -> None:
        kind = np.dtype(dtype)
        narrow = kind.kind == "f" and kind.itemsize <= 4
        super().__init__(shape, np.float32 if narrow else np.float64, columns)
        self.run_rows = run_length(shape[1] * self.dtype.itemsize)
        self._read = read
        self._name = name
        self._chunked = chunked
        self._checked = np.zeros(-(-shape[0] // ROW_BLOCK), dtype=bool)

    def read(self, start: int, stop: int) -> Host:
        """Return some rows, which begin with a block, as finite numbers in order."""
        rows = self._read(start, stop)
        blocks = slice(start // ROW_BLOCK, -(-stop // ROW_BLOCK))
        if self._checked[blocks].all():
            with np.errstate(over="ignore"):
                return np.ascontiguousarray(rows, dtype=self.dtype)
        checked = as_rows(rows, self.dtype, self._name, self.columns, start)
        self._checked[blocks] = True
        return checked

    def runs(self, of_run: Callable[[Host], Part]) -> Iterator[Part]:
        """Read and work on several threads, each with a run of its own."""

        def read_and_work(start: int) -> Part:
            return of_run(self.read(start, min(start + self.run_rows, self.shape[0])))

        starts = range(0, self.shape[0], self.run_rows)
        return ordered_map(read_and_work, starts, threads=min(thread_count(), len(starts)))

    def take(self, positions: Host, through: Callable[[Host], Host] | None = None) -> Host:
        """Read the runs or blocks that the rows are in."""
        order = np.argsort(positions, kind="stable")
        wanted = np.asarray(positions)[order]
        if not wanted.size:
            return _processed(self.read(0, min(ROW_BLOCK, self.shape[0])), through)[:0]
        hit = np.unique(wanted // self.run_rows) * self.run_rows
        bounds = np.searchsorted(wanted, hit)
        shares = zip(hit, np.split(wanted, bounds[1:]), strict=True)

        def of_run(share: tuple[int, Host]) -> Host:
            start = int(share[0])
            stop = min(start + self.run_rows, self.shape[0])
            return pick_rows(self.read, start, stop, share[1], through, whole=self._chunked)

        parts = list(ordered_map(of_run, shares, threads=min(thread_count(), hit.size)))
        taken = np.concatenate(parts)
        ordered = np.empty_like(taken)
        ordered[order] = taken
        return ordered


def pick_rows(
    read: Callable[[int, int], Host],
    start: int,
    stop: int,
    wanted: Host,
    through: Callable[[Host], Host] | None,
    *,
    whole: bool,
) -> Host:
    """Return the rows at sorted positions from `start` to `stop`, read as whole blocks."""
    blocks = np.unique(wanted // ROW_BLOCK) * ROW_BLOCK
    if whole or _DENSE * blocks.size * ROW_BLOCK >= stop - start:
        rows: Host = _processed(read(start, stop), through)[wanted - start]
        return rows
    shares = np.split(wanted, np.searchsorted(wanted, blocks)[1:])
    parts = [
        _processed(read(int(block), min(int(block) + ROW_BLOCK, stop)), through)[share - block]
        for block, share in zip(blocks, shares, strict=True)
    ]
    return np.concatenate(parts)


def _processed(rows: Host, through: Callable[[Host], Host] | None) -> Host:
    return rows if through is None else through(rows)


def as_rows(rows: Host, dtype: np.dtype[Any], name: str, columns: Any, first_row: int) -> Host:
    """Return rows of a longer table, from `first_row` on, in order and as finite numbers."""
    if rows.dtype.kind in "iu" and rows.dtype.itemsize == 8:
        too_long = np.argwhere((rows > _EXACT_INTEGER) | (rows < -_EXACT_INTEGER))
        if too_long.size:
            row, column = (int(place) for place in too_long[0])
            label = column if columns is None else repr(columns[column])
            raise ValueError(
                f"{name}: column {label} holds the integer {rows[row, column]} at row "
                f"{first_row + row}, too long for a float64 to hold exactly. It looks like an "
                "identifier: drop the column, or convert it to floats if rounding is meant."
            )
    with np.errstate(over="ignore"):  # becomes infinity, which is reported with its place
        converted = np.ascontiguousarray(rows, dtype=dtype)
    check_finite(converted, name, columns, first_row=first_row)
    return converted
