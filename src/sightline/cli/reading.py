"""Rows for a command: all in memory where they fit, else a sample, and all of them in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sightline.cli.console import bar
from sightline.sources import (
    Request,
    Table,
    TooLargeError,
    read_table,
    sample_table,
    table_blocks,
)

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class Rows:
    """A source of rows.

    Attributes
    ----------
    data : what the user called it.
    request : what to take from it.
    table : the rows in memory: all, or a sample.
    n_rows : how many there are.
    """

    data: str
    request: Request
    table: Table
    n_rows: int

    @property
    def note(self) -> str | None:
        """What a page of the rows in memory has to say of the others, if there are any."""
        here = self.table.rows.size
        if self.n_rows == here:
            return None
        return f"These {here:,} rows are a random sample of the {self.n_rows:,} rows of the table."

    def blocks(self) -> Iterator[Table]:
        """Yield all rows, read once more where they are not in memory."""
        if self.n_rows == self.table.rows.size:
            yield self.table
            return
        yield from table_blocks(
            self.data, replace(self.request, columns=self.table.columns, drop=())
        )


def read_rows(data: str, request: Request, *, sample: int, seed: int, console: Console) -> Rows:
    """Read the rows; say how many, and what was left out and filled in."""
    try:
        with bar(console, "Reading") as progress:
            table = read_table(data, request, progress=progress)
        rows = Rows(data, request, table, table.rows.size)
    except TooLargeError:
        if data == "-" or request.missing == "median":
            raise
        rng = np.random.default_rng(seed)
        with bar(console, "Reading a sample") as progress:
            table, total = sample_table(data, request, size=sample, rng=rng, progress=progress)
        rows = Rows(data, request, table, total)
        console.print("The table is larger than --max-memory: it is read in blocks.")
    counts = [f"{rows.n_rows} row", f"{len(table.columns)} column"]
    rows_read, columns = (text if text.startswith("1 ") else f"{text}s" for text in counts)
    console.print(f"Read {rows_read}, {columns} of numbers.", markup=False)
    for line in (table.left_out_line, *table.notes):
        if line:
            console.print(line, markup=False)
    return rows
