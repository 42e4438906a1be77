"""Columns of text as numbers, and what else they may be.

A column in which less than half of the values are numbers holds text or dates. One that holds
numbers and then something else is mixed: an error that shows the cell.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sightline.sources.errors import DataError
from sightline.sources.table import Host

MISSING_WORDS = ("", "na", "n/a", "nan", "null", "none", "#n/a", "-", "?", ".")
"""How a missing value is written, in small letters."""

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^(?i)[+-]?inf(inity)?$"

_KINDS = {
    r"^\d{4}-\d{1,2}-\d{1,2}|^\d{1,2}[./]\d{1,2}[./]\d{2,4}|^\d{1,2}:\d{2}(:\d{2})?": "dates",
    r"^[+-]?\d+,\d+$": "numbers with a decimal comma",
}
"""Patterns of text that more can be said about."""

_TOO_LONG = r"^[+-]?\d{16,}$"

_EXACT_INTEGER = 2**53
"""The largest integer up to which a float64 holds every whole number."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of one block.

    Attributes
    ----------
    kind : None for numbers, else what it holds.
    numbers : (b,) with NaN for what is missing or no number.
    stray : what is wrong with the first cell that is no number, in words.
    """

    kind: str | None
    numbers: Host
    stray: str = ""

    def require_numbers(self) -> None:
        """Raise where a cell is no number."""
        if self.stray:
            raise DataError(self.stray)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a block of a column begins: its file, name, the line of row 0, its first row."""

    name: str
    column: str
    first_line: int
    first_row: int

    def __call__(self, row: int) -> str:
        """Return words for the cell in a row of the block."""
        row += self.first_row
        return f"{self.name}: column {self.column!r}, row {row} (line {row + self.first_line})"


def parse_column(cells: pa.Array, place: Place) -> Column:
    """Return what the cells (b,), bytes, of a column hold."""
    try:
        text = pc.utf8_trim_whitespace(pc.cast(cells, pa.string()))
    except pa.ArrowInvalid:
        return Column("text", np.full(len(cells), np.nan), _undecodable(cells, place))
    missing = pc.is_in(pc.utf8_lower(text), pa.array(MISSING_WORDS))
    text = pc.if_else(missing, None, text)
    try:
        numbers = pc.cast(text, pa.float64())
    except pa.ArrowInvalid:
        return _mixed(text, place)
    values = numbers.to_numpy(zero_copy_only=False)
    return Column(None, values, _too_long(text, values, place))


def label_texts(cells: pa.Array, place: Place) -> Host:
    """Return labels as text without blanks around it; None where it is empty."""
    try:
        text = pc.utf8_trim_whitespace(pc.cast(cells, pa.string()))
    except pa.ArrowInvalid:
        raise DataError(_undecodable(cells, place)) from None
    return np.array([label or None for label in text.to_pylist()], dtype=object)


def _undecodable(cells: pa.Array, place: Place) -> str:
    for row, cell in enumerate(cells.to_pylist()):
        try:
            cell.decode("utf-8")
        except UnicodeDecodeError as error:
            return (
                f"{place(row)}: byte 0x{cell[error.start]:02x} is no UTF-8 text. Use --encoding "
                "latin-1 if that is what it is, or save the file as UTF-8."
            )
    raise AssertionError("all cells are UTF-8")


def _mixed(text: pa.Array, place: Place) -> Column:
    """Tell a column of text from a column of numbers with a stray cell."""
    is_number = pc.fill_null(pc.match_substring_regex(text, _NUMBER), False)
    numbers = pc.cast(pc.if_else(is_number, text, None), pa.float64())
    values = numbers.to_numpy(zero_copy_only=False)
    present = len(text) - text.null_count
    found = pc.sum(is_number).as_py()
    stray = pc.and_(pc.is_valid(text), pc.invert(is_number))
    row = pc.index(stray, True).as_py()
    cell = text[row].as_py()
    kind = None
    if 2 * found < present:
        kind = next(
            (
                kind
                for pattern, kind in _KINDS.items()
                if 2 * pc.sum(pc.match_substring_regex(text, pattern)).as_py() > present
            ),
            "text",
        )
    shown = cell if len(cell) <= 40 else cell[:37] + "..."
    comma = " (decimal comma?)" if "," in cell else ""
    return Column(
        kind,
        values,
        f"{place(row)}: {shown!r} is no number{comma}, as other cells of the column are. Correct "
        "it, leave it empty, or leave the column out with --drop.",
    )


def _too_long(text: pa.Array, values: Host, place: Place) -> str:
    """Return what is wrong where digits of a whole number would be lost, else nothing."""
    with np.errstate(invalid="ignore"):
        large = np.flatnonzero(np.abs(values) > _EXACT_INTEGER)
    if large.size == 0:
        return ""
    long = pc.match_substring_regex(text.take(pa.array(large)), _TOO_LONG)
    at = pc.index(long, True).as_py()
    if at < 0:
        return ""
    row = int(large[at])
    return (
        f"{place(row)}: the whole number {text[row].as_py()[:40]} is too long to keep all of its "
        "digits. If it is an identifier, leave the column out with --drop."
    )
