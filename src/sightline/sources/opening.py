"""Which reader a source is for: by what it is, then by the end of its name."""

from __future__ import annotations

import bz2
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
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from sightline.sources.arrays import open_array, open_npy, open_npz, open_zarr
from sightline.sources.arrow import open_arrow, open_frame, open_parquet
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


def open_source(source: Any, request: Request, limit: int) -> Stream:
    """Open what `source` is or names; see `read_table`."""
    if isinstance(source, str | os.PathLike):
        stream = _open_path(os.fspath(source), request, limit)
    elif hasattr(source, "__arrow_c_stream__") or not hasattr(source, "__array__"):
        with data_errors("the table"):
            stream = open_frame("the table", source, request)
    elif hasattr(source, "columns"):
        stream = open_frame("the table", source, request)
    else:
        stream = open_array("the array", source, request)
    return replace(stream, blocks=_guarded(stream.name, stream.blocks))


def _open_path(source: str, request: Request, limit: int) -> Stream:
    if source == "-":
        return _open_bytes("standard input", cast(BinaryIO, sys.stdin.buffer), request, limit)
    path = Path(source)
    if not path.exists():
        raise NoInputError(f"there is no file {source}. Check the path.")
    suffix = path.suffix.lower()
    if path.is_dir() and suffix != ".zarr" and not (path / "zarr.json").exists():
        raise NoInputError(f"{source} is a folder, not a table. Name a file in it.")
    if not os.access(path, os.R_OK):
        raise NoInputError(f"{source} can't be read. Check its permissions.")
    if path.is_file() and path.stat().st_size == 0:
        raise DataError(f"{path.name} is empty. Check how it was written.")
    with data_errors(path.name):
        if suffix in COMPRESSION:
            packed = path.open("rb")
            inner = Path(path.stem).suffix.lower()
            file = cast(BinaryIO, COMPRESSION[suffix](packed))
            return _timed(_open_as(path.name, inner, file, request, limit), packed, path)
        if path.is_dir():
            return open_zarr(path.name, path, request, limit)
        if suffix in FORMATS:
            return FORMATS[suffix](path.name, path, request, limit)
        file = cast(BinaryIO, path.open("rb", buffering=0))
        return _timed(open_delimited(path.name, file, request), file, path)


def _timed(stream: Stream, file: BinaryIO, path: Path) -> Stream:
    """Let the stream say which part of a file has been read; a pipe has no size to measure by."""
    size = path.stat().st_size
    if not path.is_file() or stream.n_rows is not None:
        return stream
    return replace(stream, part_read=lambda: file.tell() / size)


def _open_bytes(name: str, file: BinaryIO, request: Request, limit: int) -> Stream:
    """Open bytes that have no name: the format is told by how they begin."""
    buffered = io.BufferedReader(cast(io.RawIOBase, file))
    start = buffered.peek(8)
    inner = next((end for magic, end in _MAGIC.items() if start.startswith(magic)), "")
    with data_errors(name):
        return _open_as(name, inner, buffered, request, limit)


def _open_as(name: str, suffix: str, file: BinaryIO, request: Request, limit: int) -> Stream:
    """Open a stream of bytes as the format of a suffix; all but text needs a file of its own."""
    if suffix not in FORMATS:
        return open_delimited(name, file, request)
    with tempfile.TemporaryDirectory(prefix="sightline-") as folder:
        path = Path(folder) / f"table{suffix}"
        _copy(name, file, path, limit)
        stream = FORMATS[suffix](name, path, request, limit)
        # Read now: the file goes with its folder, and it is no larger than the limit.
        return replace(stream, blocks=iter(list(_guarded(name, stream.blocks))))


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
        if isinstance(error, OSError) and error.errno is not None:
            raise
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        raise DataError(
            f"{name} is damaged or is not what its name says: {reason[:200]}. Check how it was "
            "written, or copy it again."
        ) from error


def _guarded(name: str, blocks: Iterator[Block]) -> Iterator[Block]:
    with data_errors(name):
        yield from blocks
