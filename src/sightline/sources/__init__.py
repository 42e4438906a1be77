"""Rows from anywhere: files, standard input, data frames, arrays.

`read_table` is the one way in. It uses the columns of numbers, says which others it left out, and
refuses with place and remedy what it could only guess at.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from sightline.sources.collect import MISSING, collect
from sightline.sources.convert import write_npy
from sightline.sources.errors import DataError, NoInputError, TooLargeError
from sightline.sources.memory import ceiling, half_of_memory, parse_memory
from sightline.sources.opening import FORMATS, open_source
from sightline.sources.passes import sample_table, table_blocks
from sightline.sources.stored import lazy_rows, open_rows
from sightline.sources.table import Request, Stream, Table

__all__ = [
    "FORMATS",
    "MISSING",
    "DataError",
    "NoInputError",
    "Request",
    "Stream",
    "Table",
    "TooLargeError",
    "lazy_rows",
    "open_rows",
    "open_source",
    "parse_memory",
    "read_table",
    "sample_table",
    "table_blocks",
    "write_npy",
]


_COPIES = 3
"""A table is in memory twice while its blocks are put together, and what is done with it takes
room too."""


def read_table(
    source: Any,
    request: Request | None = None,
    *,
    progress: Callable[[float], None] | None = None,
    **changes: Any,
) -> Table:
    """Read a table of numbers.

    Parameters
    ----------
    source : a path, "-" for standard input, a data frame (pandas, polars, Arrow, or anything with
        `__arrow_c_stream__`), or a two-dimensional array.
    request : what to take from it; see `Request`.
    progress : is told which part of the source has been read, 0 to 1, after each block.
    changes : options of the request by name.

    Returns
    -------
    The table, with the columns that were left out and what was done about missing values.
    """
    request = dataclasses.replace(request or Request(), **changes)
    limit = half_of_memory() if request.max_memory is None else request.max_memory
    room = limit // _COPIES
    try:
        with ceiling(limit), open_source(source, request, room) as stream:
            return collect(stream, request, room, progress)
    except MemoryError as error:
        raise DataError(
            "the table takes more memory than the limit. Take fewer columns, or raise "
            "--max-memory."
        ) from error
