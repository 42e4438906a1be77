"""Text tables: CSV and its kin, plain or compressed, read in blocks as text and then as numbers.

Cells are parsed as text first and converted by column, so that a cell that is no number can be
shown as it is written, with its line, and digits are never lost unseen.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

from sightline.sources.columns import check_names, choose
from sightline.sources.errors import DataError
from sightline.sources.table import Block, Request, Stream
from sightline.sources.text_cells import Column, Place, label_texts, parse_column

_PEEK = 1 << 20
"""Bytes that are looked at to find the header and the separator."""

_BLOCK = 1 << 22
"""Bytes of a block of lines; no line can be longer."""

_SEPARATORS = ",;\t|"

_WIDE = "UTF-16 text, which --encoding utf-16 reads"

_SIGNATURES = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"FEA1": "a Feather file of the first version, which nothing writes any more",
    b"\x93NUMPY": "an npy file",
    b"PK\x03\x04": "a zip file (npz, xlsx or other)",
    b"\x89HDF": "an HDF5 file",
    b"\x1f\x8b": "gzip-compressed once more",
    b"\xfd7zXZ": "xz-compressed once more",
    b"%PDF": "a PDF",
    b"SQLite": "an SQLite database",
    b"\xff\xfe": _WIDE,
    b"\xfe\xff": _WIDE,
}


def open_delimited(name: str, file: BinaryIO, request: Request) -> Stream:
    """Open a text table whose first line, or none (`request.header`), names the columns."""
    quotes = _CountedQuotes(file)
    buffered = io.BufferedReader(quotes, _PEEK)
    start = buffered.peek(_PEEK)
    if not start.strip(b"\r\n\t ,;|\xef\xbb\xbf"):
        raise DataError(f"{name} is empty. Check how it was written.")
    header = _header(name, start, request)
    names, lines = header.names, header.lines
    blocks = _batches(name, *_reader(name, buffered, header, request.encoding), quotes)
    first = next(blocks, None)
    if first is None:
        raise DataError(f"{name} has columns but no rows.")
    columns = {
        column: parse_column(first.column(place), Place(name, column, lines + 1, 0))
        for place, column in enumerate(names)
    }
    kinds = {column: parsed.kind for column, parsed in columns.items()}
    kept, left_out = choose(name, kinds, request)
    plan = _Plan(name, names, kept, request.label_column, lines + 1)
    return Stream(
        name,
        tuple(kept),
        plan.blocks(first, columns, blocks),
        np.dtype(np.float64),
        left_out=left_out,
        first_line=lines + 1,
    )


class _CountedQuotes(io.RawIOBase):
    """A file that counts quotation marks: a lone one swallows all lines that follow it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._count = 0

    def readable(self) -> bool:
        """Say that it can be read, as the protocol of files wants it."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with the next bytes."""
        content = self._file.read(len(buffer))
        buffer[: len(content)] = content
        self._count += content.count(b'"')
        return len(content)

    def require_pairs(self, name: str) -> None:
        """Raise where a quotation mark was left open."""
        if self._count % 2:
            raise DataError(
                f"{name}: a quotation mark is opened and never closed, or stands alone in a "
                "value. Close it, or double it within a quoted value."
            )


class _Header(NamedTuple):
    """The column names, how many lines they take, and the separator."""

    names: list[str]
    lines: int
    separator: str


def _header(name: str, start: bytes, request: Request) -> _Header:
    """Return how the table begins."""
    wide = request.encoding.lower().replace("_", "-").startswith("utf-16")
    for signature, what in _SIGNATURES.items():
        if start.startswith(signature) and not (wide and what == _WIDE):
            raise DataError(f"{name} is {what}, not a text table. Name or convert it accordingly.")
    text = _decode(name, start, request.encoding)
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise DataError(f"{name}: line {line} holds a zero byte; it is no text. Check the file.")
    first = text.split("\n", 1)[0]
    separator = max(_SEPARATORS, key=first.count)
    try:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        names = [cell.strip() for cell in next(rows)]
    except (csv.Error, StopIteration) as error:
        raise DataError(f"{name}, line 1: {error}. Check the quotes in the header.") from error
    if not request.header:
        return _Header([f"x{i}" for i in range(len(names))], 0, separator)
    check_names(name, names, ", line 1")
    if all(_is_number(cell) for cell in names):
        raise DataError(
            f"{name}, line 1: all column names are numbers; is the header missing? Add one, or "
            "use --no-header."
        )
    return _Header(names, rows.line_num, separator)


def _decode(name: str, start: bytes, encoding: str) -> str:
    """Return the text without its byte-order mark, or say which byte is none."""
    try:
        text = start.decode(encoding)
    except LookupError as error:
        raise DataError(f"encoding={encoding!r} is unknown. Try 'latin-1'.") from error
    except UnicodeDecodeError as error:
        if len(start) < _PEEK or error.start < _PEEK - 4:
            raise _not_text(name, start, error.start, encoding) from error
        text = start[: error.start].decode(encoding)  # the end of the peek cuts a character
    return text.removeprefix("\ufeff")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _not_text(name: str, content: bytes, place: int, encoding: str) -> DataError:
    line = content.count(b"\n", 0, place) + 1
    before = content.rfind(b"\n", 0, place) + 1
    column = max(content.count(mark.encode(), before, place) for mark in _SEPARATORS) + 1
    return DataError(
        f"{name}: line {line}, column {column}: byte 0x{content[place]:02x} is no {encoding} "
        "text. Use --encoding latin-1 if that is what it is, or save the file as UTF-8."
    )


def _reader(name: str, file: Any, header: _Header, encoding: str) -> tuple[Any, list[Any]]:
    """Return pyarrow's reader, all columns as bytes, and a list for the line that breaks it."""
    broken: list[Any] = []

    def note(row: Any) -> str:
        broken.append(row)
        return "error"

    places = [str(place) for place in range(len(header.names))]
    try:
        reader = pa_csv.open_csv(
            file,
            read_options=pa_csv.ReadOptions(
                column_names=places,
                skip_rows=header.lines,
                block_size=_BLOCK,
                use_threads=False,
                encoding=encoding,
            ),
            parse_options=pa_csv.ParseOptions(
                delimiter=header.separator, newlines_in_values=True, invalid_row_handler=note
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.binary()), strings_can_be_null=False
            ),
        )
    except pa.ArrowInvalid as error:
        raise _parse_error(name, error, broken, len(header.names)) from error
    return reader, broken


def _batches(
    name: str, batches: Any, broken: list[Any], quotes: _CountedQuotes
) -> Iterator[pa.RecordBatch]:
    while True:
        try:
            batch = batches.read_next_batch()
        except StopIteration:
            quotes.require_pairs(name)
            return
        except (pa.ArrowInvalid, UnicodeDecodeError) as error:
            raise _parse_error(name, error, broken, len(batches.schema)) from error
        if batch.num_rows:
            yield batch


def _parse_error(name: str, error: Exception, broken: list[Any], width: int) -> DataError:
    if broken:
        row = broken[-1]
        line = "a line" if row.number is None else f"line {row.number}"
        text = row.text if len(row.text) <= 60 else row.text[:57] + "..."
        values = "1 value" if row.actual_columns == 1 else f"{row.actual_columns} values"
        return DataError(
            f"{name}: {line} has {values}, the header has {width}: {text!r}. "
            "Correct that line, or quote values that contain the separator."
        )
    return DataError(f"{name}: {error}. Check the lines' quotes and ends.")


class _Plan:
    """Which columns of text become numbers, and which one labels."""

    def __init__(
        self, name: str, names: list[str], kept: list[str], label: str | None, first_line: int
    ) -> None:
        self._name = name
        self._names = names
        self._places = {column: names.index(column) for column in kept}
        self._label = label
        self._first_line = first_line

    def blocks(
        self, batch: pa.RecordBatch, columns: dict[str, Column], rest: Iterator[pa.RecordBatch]
    ) -> Iterator[Block]:
        """Yield the first batch, whose columns are parsed already, and then the rest."""
        yield self._block(batch, columns, 0)
        row = batch.num_rows
        for following in rest:
            parsed = {
                column: parse_column(
                    following.column(place), Place(self._name, column, self._first_line, row)
                )
                for column, place in self._places.items()
            }
            yield self._block(following, parsed, row)
            row += following.num_rows

    def _block(self, batch: pa.RecordBatch, columns: dict[str, Column], row: int) -> Block:
        for name in self._places:
            columns[name].require_numbers()
        values = np.column_stack([columns[name].numbers for name in self._places])
        if self._label is None:
            return Block(values)
        cells = batch.column(self._names.index(self._label))
        place = Place(self._name, self._label, self._first_line, row)
        return Block(values, label_texts(cells, place))
