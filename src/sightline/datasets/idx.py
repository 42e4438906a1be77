"""The idx format of MNIST and its successors: a big-endian header, then the bytes of an array.

0 0 type rank | size_1 .. size_rank (4 bytes each) | size_1 * .. * size_rank values
"""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np

from sightline.datasets.source import damaged, opened

_UNSIGNED_BYTE = 0x08


def read_idx(
    path: Path, shape: tuple[int, ...]
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """Return the array of unsigned bytes in an idx file (plain or .gz) of the given shape.

    The header is compared with `shape` before any memory is set aside, and no more is unpacked
    than that shape needs, whatever the file claims or holds.
    """
    with opened(path) as stream:
        _check_header(path, stream.read(4 + 4 * len(shape)), shape)
        size = math.prod(shape)
        content = stream.read(size)
        if len(content) < size:
            raise damaged(path, f"it ends after {len(content)} of {size} values")
        if stream.read(1):
            raise damaged(path, f"it goes on after its {size} values")
    return np.frombuffer(content, dtype=np.uint8).reshape(shape).copy()


def _check_header(path: Path, header: bytes, shape: tuple[int, ...]) -> None:
    rank = len(shape)
    if len(header) < 4 + 4 * rank:
        raise damaged(path, f"its header has {len(header)} of {4 + 4 * rank} bytes")
    if header[:2] != b"\0\0":
        raise damaged(path, f"an idx file starts with two zero bytes, it with {header[:2]!r}")
    if header[2] != _UNSIGNED_BYTE:
        raise damaged(path, f"its type is {header[2]:#04x}, not unsigned bytes (0x08)")
    if header[3] != rank:
        raise damaged(path, f"it has {header[3]} dimension(s), not {rank}")
    claimed = struct.unpack(f">{rank}I", header[4:])
    if claimed != shape:
        raise damaged(path, f"its shape is {claimed}, not {shape}")
