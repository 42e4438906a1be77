"""The file: a zip of `header.json` and one `.npy` an array, stored and never compressed.

It is an npz, and `numpy.load` reads its arrays. Nothing in it is executed, nothing is inflated,
and no size that it states is believed before the bytes of the file bear it out.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

_HEADER = "header.json"
_DATE = (1980, 1, 1, 0, 0, 0)
"""The earliest date that a zip can hold: the same model gives the same bytes."""

_KINDS = "biuf"
"""Kinds of numbers in arrays: booleans, integers, floats."""


class ContainerError(ValueError):
    """A file is not what `write_container` writes."""


Arrays = dict[str, np.ndarray]


def write_container(path: Path, header: Mapping[str, Any], arrays: Arrays) -> None:
    """Write header and arrays beside `path`, then move them there: never half a file."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with zipfile.ZipFile(partial, "x", zipfile.ZIP_STORED) as file:
            text = json.dumps(header, indent=1, allow_nan=False)
            file.writestr(zipfile.ZipInfo(_HEADER, _DATE), text)
            for name, values in arrays.items():
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, _in_order(values), allow_pickle=False)
                file.writestr(zipfile.ZipInfo(f"{name}.npy", _DATE), buffer.getvalue())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _in_order(values: np.ndarray) -> np.ndarray:
    """Return contiguous little-endian values in the order of memory that they have.

    A matrix product adds in an order that depends on the layout, and so do its last bits.
    """
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    if little.ndim > 1 and abs(little.strides[0]) < abs(little.strides[-1]):
        return np.asfortranarray(little)
    return np.ascontiguousarray(little).reshape(little.shape)


def read_container(file: BinaryIO) -> tuple[dict[str, Any], Arrays]:
    """Return header and arrays, after checking every size, name, kind and checksum."""
    size = file.seek(0, os.SEEK_END)
    with zipfile.ZipFile(file) as container:
        members = container.infolist()
        _check_members(members, size)
        header = json.loads(container.read(members[0]).decode("utf-8"))
        if not isinstance(header, dict):
            raise ContainerError("the header is no JSON object.")
        arrays = {
            member.filename.removesuffix(".npy"): _array(container.read(member), member.filename)
            for member in members[1:]
        }
    return header, arrays


def _check_members(members: list[zipfile.ZipInfo], size: int) -> None:
    """Refuse what `write_container` never writes, before any of it is read."""
    names = [member.filename for member in members]
    if not names or names[0] != _HEADER or len(set(names)) != len(names):
        raise ContainerError(f"its first member must be {_HEADER}, and no name may come twice.")
    for member in members:
        if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
            raise ContainerError(f"{member.filename!r} is compressed or encrypted.")
        if member.file_size != member.compress_size:
            raise ContainerError(f"{member.filename!r} states two sizes.")
    if sum(member.file_size for member in members) > size:
        raise ContainerError("its members state more bytes than the file has.")


def _array(content: bytes, name: str) -> np.ndarray:
    """Return the array of one `.npy`: a plain kind of numbers, exactly as many as there are."""
    buffer = io.BytesIO(content)
    if np.lib.format.read_magic(buffer) != (1, 0):
        raise ContainerError(f"{name!r} has another version of the npy format than 1.0.")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(buffer)
    if dtype.kind not in _KINDS or dtype.names is not None or dtype.byteorder == ">":
        raise ContainerError(f"{name!r} has dtype {dtype}; arrays hold little-endian numbers.")
    count = 1
    for length in shape:
        count *= length
    if count * dtype.itemsize != len(content) - buffer.tell() or min(shape, default=0) < 0:
        raise ContainerError(f"{name!r} states shape {shape}, and has other bytes than that.")
    values = np.frombuffer(content, dtype, count=count, offset=buffer.tell())
    return values.reshape(shape, order="F" if fortran else "C").copy(order="K")
