"""Tables that stay where they are: `.npy` maps, Parquet files and Zarr arrays as lazy rows."""

from __future__ import annotations

import mmap
import os
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from sightline._arrays import is_dask, is_lazy, is_memory_map, is_zarr
from sightline.lazy import LazyRows, StoredRows
from sightline.sources.arrays import map_npy, zarr_array
from sightline.sources.arrow import decode, parquet_columns
from sightline.sources.errors import DataError
from sightline.sources.memory import half_of_memory, show_bytes
from sightline.sources.opening import check_path, data_errors
from sightline.sources.table import Host, Request

_HELD = 3
"""Row groups or bands of chunks that are held decoded: one for each of two threads, and a next."""

_AROUND = 2**21
"""Bytes about a page that the system may map along with it; a multiple of the size of a page."""


def open_rows(source: str | os.PathLike[str], request: Request | None = None) -> LazyRows:
    """Return the rows of a `.npy`, `.parquet` or `.zarr` of any size, read as they are needed.

    `fit` and `transform` of the estimators that climb take them as they take an array, at a
    memory that does not grow with the rows. Other formats can't be read from the middle on:
    convert them once with `write_npy`.
    """
    request = request or Request()
    path = Path(source)
    check_path(path)
    limit = half_of_memory() if request.max_memory is None else request.max_memory
    with data_errors(path.name):
        if path.is_dir():
            return zarr_rows(zarr_array(path.name, path, request, limit), path.name, limit)
        if path.suffix.lower() == ".npy":
            return memory_map_rows(map_npy(path.name, path), path.name)
        if path.suffix.lower() == ".parquet":
            return _parquet_rows(path, request, limit)
    raise DataError(
        f"{path.name} can't be read from the middle on, as every pass over it would have to. "
        "Convert it once: sightline.sources.write_npy(source, 'table.npy')."
    )


def lazy_rows(X: Any) -> LazyRows | None:
    """Return what stands for rows that are not in memory as lazy rows, and None for all else."""
    if is_lazy(X):
        rows: LazyRows = X
        return rows
    if is_dask(X):
        from sightline.sources.dask import dask_rows  # noqa: PLC0415  (an extra)

        remote: LazyRows = dask_rows(X)
        return remote
    if not (is_memory_map(X) or is_zarr(X)) or X.ndim != 2 or X.size == 0:
        return None
    if is_zarr(X):
        return zarr_rows(X)
    return memory_map_rows(X) if X.dtype.kind in "fiub" else None


def memory_map_rows(X: np.memmap[Any, Any], name: str = "X") -> LazyRows:
    """Return the rows of a memory map; pages are given back when a run of them has been read."""
    check_unchanged = _watched(X, name)

    def read(start: int, stop: int) -> Host:
        check_unchanged()
        rows = np.array(X[start:stop])
        _give_back(X, X[start:stop])
        return rows

    return StoredRows(read, _shape(X), X.dtype, name=name)


def _watched(X: np.memmap[Any, Any], name: str) -> Callable[[], None]:
    """Return a check that the file of a map is as it was: past a new end, reading ends a process.

    A file that was put in the place of the mapped one does not matter; the map holds the old one.
    """
    file, path = getattr(X, "_mmap", None), getattr(X, "filename", None)
    if file is None or path is None:
        return lambda: None
    size, state = file.size(), _state(path)

    def check() -> None:
        now = _state(path)
        replaced = state is None or now is None or now[0] != state[0]
        if file.size() < size or not (replaced or now == state):
            raise DataError(_CHANGED.format(name=name if name != "X" else path))

    return check


_CHANGED = (
    "{name} was changed while it was read, so that no two passes over it would see the same rows. "
    "Fit again when nobody writes to it any more, or fit a copy."
)


def _state(path: Any) -> tuple[int, int, int] | None:
    """Return which file a path names, its size and when it was written; None where it is gone."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _give_back(X: np.memmap[Any, Any], rows: Host) -> None:
    """Drop the pages of some rows from this process; the system still has them cached.

    Else the process seems to take the whole file in the end. Pages of a map that was opened to
    copy on write hold the only copy of what was written, and stay.
    """
    file = getattr(X, "_mmap", None)
    if file is None or X.mode == "c" or not hasattr(mmap, "MADV_DONTNEED"):
        return
    low, high = np.lib.array_utils.byte_bounds(rows)
    origin = np.frombuffer(file, dtype=np.uint8).ctypes.data
    first = (low - origin) // _AROUND * _AROUND
    stop = min(-(-(high - origin) // _AROUND) * _AROUND, len(file))
    file.madvise(mmap.MADV_DONTNEED, first, stop - first)


def zarr_rows(array: Any, name: str = "X", limit: int | None = None) -> LazyRows:
    """Return the rows of a Zarr array, read by bands of whole chunks."""
    n, band = int(array.shape[0]), int(array.chunks[0])
    bounds = np.minimum(np.arange(0, n + band, band), n)
    bounds = bounds[: 1 + -(-n // band)]
    dtype = np.dtype(array.dtype)
    size = band * int(array.shape[1]) * dtype.itemsize
    _check_group(f"{name}, a band of chunks of {band} rows,", size, limit)
    groups = Groups(bounds, lambda i: np.asarray(array[int(bounds[i]) : int(bounds[i + 1])]))
    return StoredRows(groups, _shape(array), dtype, name=name, chunked=True)


def _parquet_rows(path: Path, request: Request, limit: int) -> LazyRows:
    metadata = pq.read_metadata(path)
    columns, dtype = parquet_columns(path.name, pq.read_schema(path), request)
    counts = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    bounds = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
    if bounds[-1] == 0:
        raise DataError(f"{path.name} has columns but no rows.")
    size = max(counts) * len(columns) * dtype.itemsize
    _check_group(f"{path.name}, a row group of {max(counts)} rows,", size, limit)

    state = _state(path)

    def of_group(i: int) -> Host:
        if _state(path) != state:  # the places of its row groups may be others now
            raise DataError(_CHANGED.format(name=path.name))
        with data_errors(path.name), pq.ParquetFile(path, metadata=metadata) as file:
            batches = file.iter_batches(row_groups=[i], columns=columns, use_threads=False)
            return np.concatenate(list(decode(path.name, batches, columns, dtype)))

    shape = int(bounds[-1]), len(columns)
    groups = Groups(bounds, of_group)
    return StoredRows(groups, shape, dtype, name=path.name, columns=columns, chunked=True)


def _check_group(name: str, size: int, limit: int | None) -> None:
    """Refuse what can only be read in pieces too large for memory."""
    limit = half_of_memory() if limit is None else limit
    if _HELD * size > limit:
        raise DataError(
            f"{name} takes {show_bytes(size)}, and {_HELD} are held at once; the limit is "
            f"{show_bytes(limit)}. Write it again in smaller pieces, or raise max_memory."
        )


def _shape(X: Any) -> tuple[int, int]:
    return int(X.shape[0]), int(X.shape[1])


class Groups:
    """Rows of a store that is decoded group by group; the last few groups are held.

    Parameters
    ----------
    bounds : (g + 1,) first row of each group, and the end.
    decode : maps the number of a group to its rows; called from several threads.
    """

    def __init__(self, bounds: Host, decode: Callable[[int], Host]) -> None:
        self._bounds, self._decode = bounds, decode
        self._held: OrderedDict[int, Future[Host]] = OrderedDict()
        self._lock = Lock()

    def __call__(self, start: int, stop: int) -> Host:
        """Return the rows from `start` to `stop`."""
        first = int(np.searchsorted(self._bounds, start, side="right")) - 1
        last = int(np.searchsorted(self._bounds, stop, side="left"))
        parts = []
        for group in range(first, last):
            low, high = int(self._bounds[group]), int(self._bounds[group + 1])
            parts.append(self._group(group)[max(start, low) - low : min(stop, high) - low])
        return np.concatenate(parts)

    def _group(self, number: int) -> Host:
        """Return a group; who asks for it first decodes it, and the others wait."""
        with self._lock:
            future = self._held.get(number)
            mine = future is None
            if future is None:
                future = self._held[number] = Future()
            self._held.move_to_end(number)
            while len(self._held) > _HELD:
                self._held.popitem(last=False)
        if mine:
            try:
                future.set_result(self._decode(number))
            except BaseException as error:
                with self._lock:
                    self._held.pop(number, None)
                future.set_exception(error)
        return future.result()
