"""From a stream of blocks to a table: room for it, missing values, infinities, useless columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from sightline._options import check_choice
from sightline.sources.columns import is_identifier
from sightline.sources.errors import DataError
from sightline.sources.memory import check_fits
from sightline.sources.table import Block, Host, Request, Stream, Table

MISSING = ("error", "drop", "median")


def collect(
    stream: Stream,
    request: Request,
    limit: int,
    progress: Callable[[float], None] | None = None,
) -> Table:
    """Read all blocks into one table, or say why they make none.

    Parameters
    ----------
    stream : an open source.
    request : what to do about missing values.
    limit : bytes that the table may take.
    progress : is told which part has been read, after each block.
    """
    check_choice("missing", request.missing, MISSING)
    if stream.n_rows is not None:
        row_bytes = len(stream.columns) * stream.dtype.itemsize
        check_fits(stream.name, stream.n_rows * row_bytes, limit)
    values, labels = _gather(stream, limit, progress)
    if values.shape[0] == 0:
        raise DataError(f"{stream.name} has columns but no rows.")
    values, rows, notes = _without_missing(stream, values, request.missing)
    if labels is not None and rows.size < labels.size:
        labels = labels[rows]
    useless = {} if request.columns is not None else useless_columns(stream, values, rows)
    kept = [i for i, name in enumerate(stream.columns) if name not in useless]
    if useless:
        values = np.ascontiguousarray(values[:, kept])
    names = tuple(stream.columns[i] for i in kept)
    left_out = {**stream.left_out, **useless}
    return Table(stream.name, values, names, rows, labels, left_out, notes)


def _gather(
    stream: Stream, limit: int, progress: Callable[[float], None] | None
) -> tuple[Host, Host | None]:
    """Return all rows and labels."""
    room = _Room(stream, limit)
    labels = []
    for block in checked(stream):
        room.add(block.values)
        if block.labels is not None:
            labels.append(block.labels)
        if progress is not None and stream.n_rows is not None:
            progress(room.filled / stream.n_rows)
        elif progress is not None and stream.part_read is not None:
            progress(stream.part_read())
    return room.rows(), np.concatenate(labels) if labels else None


class _Room:
    """Room for rows: one array where their number is known, else blocks that are joined."""

    def __init__(self, stream: Stream, limit: int) -> None:
        self._stream = stream
        self._limit = limit
        self._blocks: list[Host] = []
        self._whole: Host | None = None
        if stream.n_rows is not None:
            self._whole = np.empty((stream.n_rows, len(stream.columns)), dtype=stream.dtype)
        self.filled = 0

    def add(self, rows: Host) -> None:
        """Take a block of rows, as long as there is room."""
        end = self.filled + rows.shape[0]
        check_fits(
            f"{self._stream.name}, after {self.filled} rows,",
            end * len(self._stream.columns) * self._stream.dtype.itemsize,
            self._limit,
        )
        if self._whole is None:
            self._blocks.append(rows)
        elif end <= self._whole.shape[0]:
            self._whole[self.filled : end] = rows
        self.filled = end

    def rows(self) -> Host:
        """Return all rows; blocks are let go as they are copied."""
        if self._whole is not None:
            if self.filled != self._whole.shape[0]:
                raise DataError(
                    f"{self._stream.name} states {self._whole.shape[0]} rows and has "
                    f"{self.filled}. Copy it again: it is damaged or cut short."
                )
            return self._whole
        values = np.empty((self.filled, len(self._stream.columns)), dtype=self._stream.dtype)
        self._blocks.reverse()
        start = 0
        while self._blocks:
            part = self._blocks.pop()
            values[start : start + part.shape[0]] = part
            start += part.shape[0]
        return values


def checked(stream: Stream) -> Iterator[Block]:
    """Yield the blocks; infinity is an error that names its place."""
    row = 0
    for block in stream.blocks:
        infinite = np.isinf(block.values)
        if infinite.any():
            at, column = np.argwhere(infinite)[0]
            raise DataError(
                f"{stream.place(stream.columns[column], row + int(at))}: the value is infinite or "
                "too large for a number. Correct it, or leave the column out with --drop."
            )
        row += block.values.shape[0]
        yield block


def _without_missing(
    stream: Stream, values: Host, missing: str
) -> tuple[Host, Host, tuple[str, ...]]:
    """Return values without NaN, the positions of their rows, and what was done."""
    rows = np.arange(values.shape[0])
    counts = np.array([np.count_nonzero(np.isnan(column)) for column in values.T])
    if not counts.any():
        return values, rows, ()
    holes = np.isnan(values)
    names = [f"{stream.columns[i]!r} {counts[i]}" for i in np.flatnonzero(counts)]
    listed = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")
    empty = [stream.columns[i] for i in np.flatnonzero(counts == values.shape[0])]
    if empty:
        raise DataError(
            f"{stream.name}: column {empty[0]!r} holds no value at all. Leave it out with --drop."
        )
    complete = ~holes.any(axis=1)
    if missing == "error":
        hole = int(np.flatnonzero(counts)[0])
        first = stream.place(stream.columns[hole], int(np.flatnonzero(holes[:, hole])[0]))
        raise DataError(
            f"{first}: the value is missing; by column: {listed}. Use --missing drop (leaves out "
            f"{values.shape[0] - complete.sum()} of {values.shape[0]} rows), --missing median, or "
            "--drop COLUMN."
        )
    if missing == "drop":
        if not complete.any():
            raise DataError(
                f"{stream.name}: every row has a missing value ({listed}). Use --missing median, "
                "or --drop the columns with the most."
            )
        note = f"Dropped {np.count_nonzero(~complete)} rows with missing values ({listed})."
        return values[complete], rows[complete], (note,)
    for column in np.flatnonzero(counts):
        values[holes[:, column], column] = np.nanmedian(values[:, column])
    return values, rows, (f"Filled missing values with the column's median ({listed}).",)


def useless_columns(stream: Stream, values: Host, rows: Host) -> dict[str, str]:
    """Return the columns that show nothing, and why: they name the rows, or never change."""
    why = {}
    for place, column in enumerate(stream.columns):
        if is_identifier(column, values[:, place], rows):
            why[column] = "identifier"
        elif values.shape[0] > 1 and np.all(values[:, place] == values[0, place]):
            why[column] = "constant"
    if len(why) == len(stream.columns):
        listed = ", ".join(f"{column!r} ({reason})" for column, reason in list(why.items())[:5])
        raise DataError(
            f"{stream.name} has no column of numbers that shows anything: {listed}. Name those to "
            "look at with --columns."
        )
    return why
