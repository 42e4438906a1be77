"""What reading gives: a table of numbers, and word of what was left out of it.

A reader yields blocks of rows; `Stream` says beforehand what they are. Missing values are NaN in
blocks and never in a `Table`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

import numpy as np

Host: TypeAlias = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True, slots=True)
class Request:
    """What to take from a source.

    Attributes
    ----------
    columns : take these and no others; None takes every column of numbers.
    drop : leave these out.
    label_column : holds labels of the rows, not numbers to look at.
    missing : "error" (any missing value is one), "drop" (leave out its row), "median" (fill it).
    array : which array of a file that holds several.
    encoding : of text files.
    header : whether a text file begins with a line of column names.
    max_memory : bytes that the table may take; None is half of the machine's memory.
    """

    columns: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    label_column: str | None = None
    missing: str = "error"
    array: str | None = None
    encoding: str = "utf-8"
    header: bool = True
    max_memory: int | None = None


class Block(NamedTuple):
    """Rows (b, d) with NaN for what is missing, and their labels (b,) where asked for."""

    values: Host
    labels: Host | None = None


@dataclass(frozen=True, slots=True)
class Stream:
    """A source that has been opened.

    Attributes
    ----------
    name : of the source, for messages.
    columns : names of the d columns of every block.
    blocks : the rows, in their order; they can be gone through once.
    dtype : float32 or float64.
    n_rows : how many rows there are, where that is known beforehand.
    left_out : columns that are no numbers, and what they are.
    first_line : line of the file that row 0 is in, for messages about text files.
    part_read : says which part of a file has been read, where `n_rows` is not known.
    """

    name: str
    columns: tuple[str, ...]
    blocks: Iterator[Block]
    dtype: np.dtype[Any]
    n_rows: int | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    first_line: int | None = None
    part_read: Callable[[], float] | None = None

    def place(self, column: str, row: int) -> str:
        """Return words for a cell."""
        line = "" if self.first_line is None else f" (line {row + self.first_line})"
        return f"{self.name}: column {column!r}, row {row}{line}"


@dataclass(frozen=True, slots=True)
class Table:
    """Numbers that are all there.

    Attributes
    ----------
    name : of the source, for messages.
    values : (n, d) finite float32 or float64.
    columns : (d,) names.
    rows : (n,) positions in the source, counted from 0: rows may have been dropped.
    labels : (n,) or None.
    left_out : columns that are not in `values`, and why.
    notes : what was done to the data, a sentence each.
    """

    name: str
    values: Host
    columns: tuple[str, ...]
    rows: Host
    labels: Host | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def row_names(self) -> list[int] | None:
        """Numbers of the rows, or None where they count from 0 without a gap.

        A list of millions of numbers takes as much room as a few columns.
        """
        counted = self.rows.size == 0 or (
            self.rows[0] == 0 and self.rows[-1] == self.rows.size - 1
        )
        return None if counted else self.rows.tolist()

    @property
    def left_out_line(self) -> str:
        """One line that names the columns left out, or nothing."""
        if not self.left_out:
            return ""
        names = [f"{name!r} ({why})" for name, why in self.left_out.items()]
        more = f" and {len(names) - 12} more" if len(names) > 12 else ""
        return f"Left out: {', '.join(names[:12])}{more}."
