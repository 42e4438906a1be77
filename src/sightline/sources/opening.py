"""Which reader a source is for: by what it is, then by the end of its name."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import struct
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa

from sightline._arrays import is_foreign, to_numpy
from sightline.sources.arrays import open_array, open_npy, open_npz, open_zarr
from sightline.sources.arrow import is_frame, open_arrow, open_frame, open_parquet
from sightline.sources.cells import open_h5ad
from sightline.sources.delimited import open_delimited
from sightline.sources.errors import DataError, NoInputError
from sightline.sources.memory import show_bytes
from sightline.sources.table import Block, Request, Stream

Reader = Callable[[str, Path, Request, int], Stream]

FORMATS: dict[str, Reader] = {
    ".parquet": open_parquet,
    ".arrow": open_arrow,
    ".feather": open_arrow,
    ".npy": open_npy,
    ".npz": open_npz,
    ".zarr": open_zarr,
    ".h5ad": open_h5ad,
}
"""Formats by the end of the name; everything else is read as delimited text."""

COMPRESSION: dict[str, Callable[[Any], Any]] = {
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
}

_MAGIC = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\x93NUMPY": ".npy",
    b"PK\x03\x04": ".npz",
    b"\x89HDF": ".h5ad",
}
"""First bytes by which a format is known on standard input, which has no name."""

_PACKED = {b"\x1f\x8b": ".gz", b"\xfd7zXZ": ".xz", b"BZh": ".bz2"}
"""First bytes of compressed text."""

_BROKEN = (
    ArithmeticError,
    EOFError,
    LookupError,
    MemoryError,
    NotImplementedError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    lzma.LZMAError,
    pa.ArrowException,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
)
"""What decoders raise on a file that is not what it says."""


@contextmanager
def open_source(source: Any, request: Request, limit: int) -> Iterator[Stream]:
    """Open what `source` is or names, and close it in the end; see `read_table`."""
    with ExitStack() as files:
        if isinstance(source, str | os.PathLike):
            stream = _open_path(os.fspath(source), request, limit, files)
        elif is_frame(source):
            with data_errors("the table"):
                stream = open_frame("the table", source, request)
        else:
            array = to_numpy(source) if is_foreign(source) else np.asarray(source)
            stream = open_array("the array", array, request)
        yield replace(stream, blocks=_guarded(stream.name, stream.blocks))


def _open_path(source: str, request: Request, limit: int, files: ExitStack) -> Stream:
    if source == "-":
        return _open_standard_input(request, limit, files)
    path = Path(source)
    check_path(path)
    with data_errors(path.name):
        if path.is_dir():
            return open_zarr(path.name, path, request, limit)
        suffix = path.suffix.lower()
        if suffix in FORMATS:
            return FORMATS[suffix](path.name, path, request, limit)
        file: Any = files.enter_context(path.open("rb", buffering=0))
        if suffix not in COMPRESSION:
            return _timed(open_delimited(path.name, file, request), file, path)
        inner = Path(path.stem).suffix.lower()
        unpacked = files.enter_context(COMPRESSION[suffix](file))
        if inner not in FORMATS:
            return _timed(open_delimited(path.name, unpacked, request), file, path)
        copy = _spooled(path.name, unpacked, inner, limit, files)
        return FORMATS[inner](path.name, copy, request, limit)


def check_path(path: Path) -> None:
    """Raise where there is nothing to read."""
    if not path.exists():
        raise NoInputError(f"there is no file {path}. Check the path.")
    if path.is_dir() and path.suffix != ".zarr" and not (path / "zarr.json").exists():
        raise NoInputError(f"{path} is a folder, not a table. Name a file in it.")
    if not os.access(path, os.R_OK):
        raise NoInputError(f"{path} can't be read. Check its permissions.")
    if path.is_file() and path.stat().st_size == 0:
        raise DataError(f"{path.name} is empty. Check how it was written.")


def _timed(stream: Stream, file: BinaryIO, path: Path) -> Stream:
    """Let the stream say which part of a file has been read; a pipe has no size to measure by."""
    size = path.stat().st_size
    if not path.is_file() or stream.n_rows is not None:
        return stream
    return replace(stream, part_read=lambda: file.tell() / size)


def _open_standard_input(request: Request, limit: int, files: ExitStack) -> Stream:
    """Open bytes that have no name: the format is told by how they begin."""
    name = "standard input"
    buffered = io.BufferedReader(cast(io.RawIOBase, sys.stdin.buffer))
    start = buffered.peek(8)
    with data_errors(name):
        packing = next((end for magic, end in _PACKED.items() if start.startswith(magic)), None)
        if packing is not None:
            return open_delimited(
                name, files.enter_context(COMPRESSION[packing](buffered)), request
            )
        inner = next((end for magic, end in _MAGIC.items() if start.startswith(magic)), "")
        bare = cast(BinaryIO, buffered)
        if inner not in FORMATS:
            return open_delimited(name, bare, request)
        return FORMATS[inner](name, _spooled(name, bare, inner, limit, files), request, limit)


def _spooled(name: str, file: BinaryIO, suffix: str, limit: int, files: ExitStack) -> Path:
    """Return a file with the bytes of a stream: all formats but text are read out of order."""
    folder = files.enter_context(tempfile.TemporaryDirectory(prefix="sightline-"))
    path = Path(folder) / f"table{suffix}"
    _copy(name, file, path, limit)
    return path


def _copy(name: str, file: BinaryIO, path: Path, limit: int) -> None:
    written = 0
    with path.open("wb") as copy:
        while part := file.read(1 << 20):
            written += len(part)
            if written > limit:
                raise DataError(
                    f"{name} unpacks to more than {show_bytes(limit)}, the limit. Unpack it "
                    "yourself, or raise --max-memory."
                )
            copy.write(part)


@contextmanager
def data_errors(name: str) -> Iterator[None]:
    """Turn what decoders raise on a broken file into one error that names it."""
    try:
        yield
    except (DataError, NoInputError):
        raise
    except MemoryError as error:
        raise DataError(
            f"{name} takes more memory than the limit. Take fewer columns, or raise --max-memory."
        ) from error
    except _BROKEN as error:
        if isinstance(error, OSError) and error.errno not in {None, errno.EINVAL}:
            raise
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise DataError(
            f"{name} is damaged or is not what its name says: {reason[:200]}. Check how it was "
            "written, or copy it again."
        ) from error


def _guarded(name: str, blocks: Iterator[Block]) -> Iterator[Block]:
    with data_errors(name):
        yield from blocks
