"""Plain arrays: in memory, in `.npy` and `.npz` files, in Zarr stores. Columns are x0, x1, ..."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from sightline._arrays import to_numpy
from sightline.sources.columns import choose
from sightline.sources.errors import DataError
from sightline.sources.memory import check_fits, show_bytes
from sightline.sources.table import Block, Host, Request, Stream

_BATCH = 1 << 14
"""Rows that are converted at once."""

_EXACT_INTEGER = 2**53
"""The largest integer up to which a float64 holds every whole number."""


def open_array(name: str, values: Any, request: Request, labels: Any = None) -> Stream:
    """Open a two-dimensional array, whole or one whose rows are read as they are sliced."""
    shape, dtype = values.shape, np.dtype(values.dtype)
    if len(shape) != 2:
        raise DataError(
            f"{name} holds an array of shape {tuple(shape)}; a table has rows and columns. "
            "Reshape it."
        )
    if dtype.kind not in "fiub":
        raise DataError(f"{name} holds an array of {dtype}; a table holds numbers. Convert it.")
    if labels is not None and len(labels) != shape[0]:
        raise DataError(f"{name} has {shape[0]} rows and {len(labels)} labels. Check the labels.")
    if request.label_column is not None and labels is None:
        raise DataError(f"{name} has no column {request.label_column!r}: it has no names at all.")
    columns = [f"x{i}" for i in range(shape[1])]
    names = Request(request.columns, request.drop)
    kept, left_out = choose(name, dict.fromkeys(columns), names)
    narrow = dtype.kind == "f" and dtype.itemsize <= 4
    target = np.dtype(np.float32 if narrow else np.float64)
    places = None if len(kept) == len(columns) else [int(column[1:]) for column in kept]
    blocks = _blocks(name, values, places, target, labels)
    return Stream(name, tuple(kept), blocks, target, int(shape[0]), left_out)


def _blocks(
    name: str, values: Any, places: list[int] | None, dtype: np.dtype[Any], labels: Any
) -> Iterator[Block]:
    for start in range(0, values.shape[0], _BATCH):
        part = to_numpy(values[start : start + _BATCH])
        part = part if places is None else part[:, places]
        if part.dtype.kind in "iu" and part.dtype.itemsize == 8:
            _check_integers(name, part, start)
        with np.errstate(over="ignore"):  # becomes infinity, which is reported with its place
            part = part.astype(dtype)
        yield Block(part, None if labels is None else labels[start : start + _BATCH])


def _check_integers(name: str, values: Host, start: int) -> None:
    too_long = (values > _EXACT_INTEGER) | (values < -_EXACT_INTEGER)
    if too_long.any():
        row, column = np.argwhere(too_long)[0]
        raise DataError(
            f"{name}: column 'x{column}', row {start + int(row)}: the whole number "
            f"{values[row, column]} is too long to keep all of its digits. Convert the array to "
            "floats if rounding is meant."
        )


def open_npy(name: str, path: Path, request: Request, limit: int) -> Stream:  # noqa: ARG001
    """Open an `.npy` file; its rows are read from disk as they are asked for."""
    return open_array(name, map_npy(name, path), request)


def map_npy(name: str, path: Path) -> np.memmap[Any, Any]:
    """Map an `.npy` file into memory, if it is what it states."""
    with path.open("rb") as file:
        shape, fortran, dtype = _npy_header(name, file)
        offset = file.tell()
    _check_dtype(name, dtype)
    stated = _size(shape, dtype)
    found = path.stat().st_size - offset
    if stated != found:
        raise DataError(
            f"{name} states shape {shape}, {show_bytes(stated)}, and holds {show_bytes(found)}. "
            "Copy it again: it is damaged or cut short."
        )
    if stated == 0:
        raise DataError(f"{name} holds an empty array of shape {shape}. Check how it was written.")
    return np.memmap(path, dtype, "r", offset, shape, order="F" if fortran else "C")


def open_npz(name: str, path: Path, request: Request, limit: int) -> Stream:
    """Open one array of an `.npz` file: the one asked for, `X`, or the only table in it."""
    with zipfile.ZipFile(path) as file:
        members = {
            member.filename.removesuffix(".npy"): member
            for member in file.infolist()
            if member.filename.endswith(".npy")
        }
        headers = {key: _member_header(name, file, member) for key, member in members.items()}
        chosen = _choose_array(name, {key: shape for key, (shape, _) in headers.items()}, request)
        wanted = [chosen]
        if request.label_column is not None:
            if request.label_column not in members:
                raise DataError(
                    f"{name} has no array {request.label_column!r}. It has {', '.join(members)}."
                )
            wanted.append(request.label_column)
        parts = []
        for key in wanted:
            shape, dtype = headers[key]
            _check_dtype(f"{name}, array {key!r},", dtype)
            check_fits(f"{name}, array {key!r},", _size(shape, dtype), limit)
            with file.open(members[key]) as content:
                parts.append(np.lib.format.read_array(content, allow_pickle=False))
    labels = np.ravel(parts[1]).astype(object) if len(parts) > 1 else None
    return open_array(name, parts[0], request, labels)


def open_zarr(name: str, path: Path, request: Request, limit: int) -> Stream:
    """Open an array of a Zarr store; chunks are checked before they are read."""
    return open_array(name, zarr_array(name, path, request, limit), request)


def zarr_array(name: str, path: Path, request: Request, limit: int) -> Any:
    """Return the array of a Zarr store that is the table, if its chunks fit into memory."""
    try:
        import zarr  # noqa: PLC0415  (an extra)
    except ModuleNotFoundError as error:
        raise DataError(
            f"{name} is a Zarr store; reading it takes the package zarr. Install sightline[zarr]."
        ) from error
    store = zarr.open(str(path), mode="r")
    if isinstance(store, zarr.Group):
        arrays = dict(store.arrays())
        shapes = {key: array.shape for key, array in arrays.items()}
        store = arrays[_choose_array(name, shapes, request)]
    _check_dtype(name, np.dtype(store.dtype))
    check_fits(f"{name}, one chunk,", _size(store.chunks, np.dtype(store.dtype)), limit)
    return store


def _npy_header(name: str, file: BinaryIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0
            if version == (1, 0)
            else np.lib.format.read_array_header_2_0
        )
        shape, fortran, dtype = read(file)
    except ValueError as error:
        raise DataError(f"{name} is no npy array: {error}. Write it again.") from error
    if any(length < 0 for length in shape):
        raise DataError(f"{name} states the shape {shape}. Write it again.")
    return shape, fortran, dtype


def _member_header(
    name: str, file: zipfile.ZipFile, member: zipfile.ZipInfo
) -> tuple[tuple[int, ...], np.dtype[Any]]:
    with file.open(member) as content:
        shape, _, dtype = _npy_header(f"{name}, {member.filename}", content)  # type: ignore[arg-type]
    return shape, dtype


def _check_dtype(name: str, dtype: np.dtype[Any]) -> None:
    if dtype.hasobject:
        raise DataError(
            f"{name} holds pickled objects, which could run anything; they are never read. "
            "Save it as an array of numbers."
        )


def _size(shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
    size = dtype.itemsize
    for length in shape:
        size *= int(length)
    return size


def _choose_array(name: str, shapes: Mapping[str, tuple[int, ...]], request: Request) -> str:
    """Return which array is the table."""
    listed = ", ".join(f"{key} {tuple(shape)}" for key, shape in list(shapes.items())[:8])
    if request.array is not None:
        if request.array in shapes:
            return request.array
        raise DataError(f"{name} has no array {request.array!r}. It has {listed or 'none'}.")
    tables = [key for key, shape in shapes.items() if len(shape) == 2]
    if "X" in tables:
        return "X"
    if len(tables) != 1:
        raise DataError(
            f"{name} holds {len(tables)} tables ({listed or 'nothing'}). Name one with --array."
        )
    return tables[0]
