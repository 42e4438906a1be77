"""Tables that have types: Parquet, Feather, Arrow files, and data frames of any library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from sightline.sources.columns import check_names, choose
from sightline.sources.errors import DataError
from sightline.sources.memory import check_fits
from sightline.sources.table import Block, Host, Request, Stream

_BATCH = 1 << 16
"""Rows that are decoded at once."""

_EXACT_INTEGER = 2**53
"""The largest integer up to which a float64 holds every whole number."""


def open_parquet(name: str, path: Path, request: Request, limit: int) -> Stream:
    """Open a Parquet file; only the columns in use are decoded."""
    file = pq.ParquetFile(path, memory_map=False, pre_buffer=False)
    schema = file.schema_arrow
    kept, _ = _choose(name, schema, request)
    metadata = file.metadata
    wanted = {*kept, *([] if request.label_column is None else [request.label_column])}
    for group in range(metadata.num_row_groups):
        row_group = metadata.row_group(group)
        stated = sum(
            row_group.column(i).total_uncompressed_size
            for i in range(row_group.num_columns)
            if row_group.column(i).path_in_schema in wanted
        )
        check_fits(f"{name}, row group {group},", stated, limit)
    batches = file.iter_batches(_BATCH, columns=sorted(wanted), use_threads=False)
    return replace(_stream(name, batches, schema, request), n_rows=metadata.num_rows)


def open_arrow(name: str, path: Path, request: Request, limit: int) -> Stream:  # noqa: ARG001
    """Open an Arrow file (Feather of version 2 is one) or an Arrow stream."""
    with path.open("rb") as file:
        magic = file.read(6)
    source = pa.memory_map(str(path))
    if magic != b"ARROW1":
        reader = pa.ipc.open_stream(source)
        return _stream(name, reader, reader.schema, request)
    reader = pa.ipc.open_file(source)
    batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
    return _stream(name, batches, reader.schema, request)


def is_frame(source: Any) -> bool:
    """Say whether `source` is a data frame, lazy or not, or exports an Arrow stream."""
    if hasattr(source, "__arrow_c_stream__"):
        return True
    native = nw.from_native(source, pass_through=True)
    return isinstance(native, nw.DataFrame | nw.LazyFrame)


def open_frame(name: str, frame: Any, request: Request) -> Stream:
    """Open a data frame: pandas, polars, Arrow, or what exports an Arrow stream."""
    try:
        if not hasattr(frame, "__arrow_c_stream__"):
            native = nw.from_native(frame)
            frame = (native.collect() if isinstance(native, nw.LazyFrame) else native).to_arrow()
        reader = pa.RecordBatchReader.from_stream(frame)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise DataError(
            f"{name} is no table of plain columns: {error}. Let each column hold one kind of "
            "value."
        ) from error
    return _stream(name, reader, reader.schema, request)


def _choose(name: str, schema: pa.Schema, request: Request) -> tuple[list[str], dict[str, str]]:
    check_names(name, schema.names)
    index = (schema.pandas_metadata or {}).get("index_columns", [])
    kinds = {field.name: _kind(field.type) for field in schema}
    kinds |= {column: "the frame's index" for column in index if isinstance(column, str)}
    return choose(name, kinds, request)


def _kind(kind: pa.DataType) -> str | None:
    """Return None for numbers, else what values of the type are to people."""
    if pa.types.is_dictionary(kind):
        return "text"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return None
    if pa.types.is_boolean(kind):
        return "yes or no"
    if pa.types.is_temporal(kind):
        return "dates"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return "text"
    return "nothing" if pa.types.is_null(kind) else str(kind)


def _stream(
    name: str, batches: Iterable[pa.RecordBatch], schema: pa.Schema, request: Request
) -> Stream:
    kept, left_out = _choose(name, schema, request)
    dtype = _dtype(schema, kept)
    blocks = _blocks(name, batches, kept, request.label_column, dtype)
    return Stream(name, tuple(kept), blocks, dtype, left_out=left_out)


def parquet_columns(
    name: str, schema: pa.Schema, request: Request
) -> tuple[list[str], np.dtype[Any]]:
    """Return the columns in use, and the dtype that holds them all."""
    kept, _ = _choose(name, schema, request)
    return kept, _dtype(schema, kept)


def _dtype(schema: pa.Schema, kept: list[str]) -> np.dtype[Any]:
    narrow = all(schema.field(column).type in {pa.float16(), pa.float32()} for column in kept)
    return np.dtype(np.float32 if narrow else np.float64)


def decode(
    name: str, batches: Iterable[pa.RecordBatch], columns: list[str], dtype: np.dtype[Any]
) -> Iterator[Host]:
    """Yield the rows of batches."""
    return (block.values for block in _blocks(name, batches, columns, None, dtype))


def _blocks(
    name: str,
    batches: Iterable[pa.RecordBatch],
    kept: list[str],
    label: str | None,
    dtype: np.dtype[Any],
) -> Iterator[Block]:
    row = 0
    for batch in batches:
        batch.validate(full=True)  # offsets beyond the buffers would be followed
        values = np.empty((batch.num_rows, len(kept)), dtype=dtype)
        for place, column in enumerate(kept):
            values[:, place] = _numbers(name, column, batch.column(column), row)
        labels = None if label is None else _labels(batch.column(label))
        yield Block(values, labels)
        row += batch.num_rows


def _numbers(name: str, column: str, cells: pa.Array, row: int) -> Host:
    """Return the cells as floats, NaN where they are missing."""
    if pa.types.is_integer(cells.type) and cells.type.bit_width == 64 and len(cells):
        values = cells.drop_null().to_numpy(zero_copy_only=False)
        too_long = (values > _EXACT_INTEGER) | (values < -_EXACT_INTEGER)
        if too_long.any():
            at = np.flatnonzero(cells.is_valid().to_numpy(zero_copy_only=False))[too_long.argmax()]
            raise DataError(
                f"{name}: column {column!r}, row {row + int(at)}: the whole number "
                f"{values[too_long.argmax()]} is too long to keep all of its digits. If it is an "
                "identifier, leave the column out with --drop."
            )
    if not pa.types.is_floating(cells.type):
        cells = pc.cast(cells, pa.float64(), safe=False)
    return np.asarray(cells.to_numpy(zero_copy_only=False))


def _labels(cells: pa.Array) -> Host:
    values = np.empty(len(cells), dtype=object)
    values[:] = [cell.strip() if isinstance(cell, str) else cell for cell in cells.to_pylist()]
    return values
