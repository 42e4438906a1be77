"""A table of any format as one `.npy`, written once and then read from any row on."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from sightline._options import check_choice
from sightline.sources.errors import DataError
from sightline.sources.memory import half_of_memory
from sightline.sources.opening import open_source
from sightline.sources.passes import complete_rows
from sightline.sources.table import Request


def write_npy(
    source: Any,
    path: str | os.PathLike[str],
    request: Request | None = None,
    *,
    progress: Callable[[float], None] | None = None,
    **changes: Any,
) -> tuple[str, ...]:
    """Write the numbers of a table of any size to a `.npy`, in one pass and at fixed memory.

    Parameters
    ----------
    source, request, progress, changes : as in `read_table`; missing values can be an error or
        drop their rows.
    path : the file to write; it is there when all of it is.

    Returns
    -------
    The names of the columns that were written, for which a `.npy` has no room.
    """
    request = dataclasses.replace(request or Request(), **changes)
    check_choice("missing", request.missing, ("error", "drop"))
    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.part")
    limit = half_of_memory() if request.max_memory is None else request.max_memory
    try:
        with open_source(source, request, limit) as stream, partial.open("wb") as file:
            count = 0
            _write_header(file, (count, len(stream.columns)), stream.dtype)
            for rows in complete_rows(stream, request.missing):
                np.ascontiguousarray(rows.values, dtype=stream.dtype).tofile(file)
                count += rows.positions.size
                if progress is not None and stream.part_read is not None:
                    progress(stream.part_read())
                elif progress is not None and stream.n_rows is not None:
                    progress(min(1.0, count / stream.n_rows))
            if count == 0:
                raise DataError(f"{stream.name} has no complete rows. Use --missing, or --drop.")
            file.seek(0)
            _write_header(file, (count, len(stream.columns)), stream.dtype)
            columns = stream.columns
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return columns


def _write_header(file: Any, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
    """Write a header that keeps its length however many rows there will be: numpy pads for it."""
    described = {"descr": dtype.str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, described)
