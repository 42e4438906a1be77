"""Tables larger than memory: a random sample of the rows, or block after block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sightline._options import check_choice
from sightline.sources.collect import checked, useless_columns
from sightline.sources.errors import DataError
from sightline.sources.memory import ceiling, half_of_memory
from sightline.sources.opening import open_source
from sightline.sources.table import Host, Request, Stream, Table


class _Rows(NamedTuple):
    """Complete rows (b, d), their positions in the source (b,), and their labels."""

    values: Host
    positions: Host
    labels: Host | None


def table_blocks(source: Any, request: Request) -> Iterator[Table]:
    """Yield the rows of a source as tables, one a block; see `read_table`.

    Nothing is known of a block but its rows: only columns of the wrong kind are left out, and
    missing values can be an error or drop their rows.
    """
    room = _room(request)
    with ceiling(room), open_source(source, request, room) as stream:
        for rows in _complete_rows(stream, _Holes(stream, request.missing)):
            yield Table(
                stream.name,
                rows.values,
                stream.columns,
                rows.positions,
                rows.labels,
                dict(stream.left_out),
            )


def sample_table(
    source: Any,
    request: Request,
    *,
    size: int,
    rng: np.random.Generator,
    progress: Callable[[float], None] | None = None,
) -> tuple[Table, int]:
    """Return `size` rows drawn at random without replacement, and how many there are in all.

    Every row gets a random key, and the rows with the least keys stay: one pass over a source of
    unknown length draws each set of rows with the same probability.
    """
    room = _room(request)
    with ceiling(room), open_source(source, request, room) as stream:
        kept, keys, total = None, np.empty(0), 0
        holes = _Holes(stream, request.missing)
        for rows in _complete_rows(stream, holes):
            total += rows.positions.size
            keys = np.concatenate([keys, rng.random(rows.positions.size)])
            kept = rows if kept is None else _joined(kept, rows)
            if keys.size > size:
                least = np.sort(np.argpartition(keys, size - 1)[:size])
                keys, kept = keys[least], _taken(kept, least)
            if progress is not None and stream.part_read is not None:
                progress(stream.part_read())
            elif progress is not None and stream.n_rows is not None:
                progress(min(1.0, total / stream.n_rows))
        if kept is None or kept.positions.size == 0:
            raise DataError(f"{stream.name} has no complete rows. Use --missing, or --drop.")
    return _as_table(stream, kept, request, holes.notes), total


def _room(request: Request) -> int:
    return half_of_memory() if request.max_memory is None else request.max_memory


class _Holes:
    """Missing values of a stream: counted by column, and an error or rows left out."""

    def __init__(self, stream: Stream, missing: str) -> None:
        check_choice("missing, for a table read in blocks,", missing, ("error", "drop"))
        self._stream = stream
        self.forbidden = missing == "error"
        self._counts = np.zeros(len(stream.columns), dtype=np.int64)
        self._rows = 0
        self._first = ""

    def count(self, holes: Host, start: int) -> None:
        """Take note of the missing values (b, d) of a block that begins at row `start`."""
        if not self._first and holes.any():
            row, column = np.argwhere(holes)[0]
            self._first = self._stream.place(self._stream.columns[column], start + int(row))
        self._counts += np.count_nonzero(holes, axis=0)
        self._rows += int(np.count_nonzero(holes.any(axis=1)))

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, if anything was."""
        if not self._rows:
            return ()
        return (f"Dropped {self._rows} rows with missing values ({self._listed()}).",)

    def error(self) -> DataError:
        """Return the error that counts them."""
        return DataError(
            f"{self._first}: the value is missing; by column: {self._listed()}. Use --missing "
            f"drop (leaves out {self._rows} rows), or --drop COLUMN."
        )

    def _listed(self) -> str:
        names = [
            f"{self._stream.columns[i]!r} {self._counts[i]}" for i in self._counts.nonzero()[0]
        ]
        return ", ".join(names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def complete_rows(stream: Stream, missing: str) -> Iterator[_Rows]:
    """Yield blocks without missing values, which are an error or drop their rows."""
    return _complete_rows(stream, _Holes(stream, missing))


def _complete_rows(stream: Stream, missing: _Holes) -> Iterator[_Rows]:
    """Yield blocks without missing values; where those are an error, count all of them first."""
    start, refused = 0, False
    for block in checked(stream):
        holes = np.isnan(block.values)
        positions = np.arange(start, start + block.values.shape[0])
        missing.count(holes, start)
        start += positions.size
        refused = refused or (missing.forbidden and bool(holes.any()))
        if refused:
            continue
        rows = _Rows(block.values, positions, block.labels)
        yield _taken(rows, np.asarray(~holes.any(axis=1))) if holes.any() else rows
    if refused:
        raise missing.error()


def _taken(rows: _Rows, which: Host) -> _Rows:
    labels = None if rows.labels is None else rows.labels[which]
    return _Rows(rows.values[which], rows.positions[which], labels)


def _joined(first: _Rows, second: _Rows) -> _Rows:
    labels = None
    if first.labels is not None and second.labels is not None:
        labels = np.concatenate([first.labels, second.labels])
    return _Rows(
        np.concatenate([first.values, second.values]),
        np.concatenate([first.positions, second.positions]),
        labels,
    )


def _as_table(stream: Stream, rows: _Rows, request: Request, notes: tuple[str, ...]) -> Table:
    """Return a sample as a table, without the columns that show nothing."""
    table = Table(
        stream.name,
        rows.values,
        stream.columns,
        rows.positions,
        rows.labels,
        stream.left_out,
        notes,
    )
    if request.columns is not None:
        return table
    useless = useless_columns(stream, rows.values, rows.positions)
    kept = [place for place, column in enumerate(stream.columns) if column not in useless]
    return replace(
        table,
        values=np.ascontiguousarray(rows.values[:, kept]),
        columns=tuple(stream.columns[place] for place in kept),
        left_out={**stream.left_out, **useless},
    )
