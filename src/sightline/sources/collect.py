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
    useless = {} if request.columns is not None else _useless(stream, values)
    kept = [i for i, name in enumerate(stream.columns) if name not in useless]
    if useless:
        values = np.ascontiguousarray(values[:, kept])
    names = tuple(stream.columns[i] for i in kept)
    left_out = {**stream.left_out, **useless}
    return Table(stream.name, values, names, rows, labels, left_out, notes)


def _gather(
    stream: Stream, limit: int, progress: Callable[[float], None] | None
) -> tuple[Host, Host | None]:
    """Return all rows and labels; blocks are let go as they are copied."""
    blocks, taken, row = [], 0, 0
    for block in checked(stream):
        taken += block.values.nbytes
        check_fits(f"{stream.name}, after {row} rows,", taken, limit)
        row += block.values.shape[0]
        blocks.append(block)
        if progress is not None and stream.n_rows is not None:
            progress(row / stream.n_rows)
        elif progress is not None and stream.part_read is not None:
            progress(stream.part_read())
    values = np.empty((row, len(stream.columns)), dtype=stream.dtype)
    parts = [block.labels for block in blocks if block.labels is not None]
    blocks.reverse()
    start = 0
    while blocks:
        part = blocks.pop().values
        values[start : start + part.shape[0]] = part
        start += part.shape[0]
    return values, np.concatenate(parts) if parts else None


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


def _useless(stream: Stream, values: Host) -> dict[str, str]:
    """Return the columns that show nothing, and why: they name the rows, or never change."""
    why = {}
    for place, column in enumerate(stream.columns):
        if is_identifier(column, values[:, place]):
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
