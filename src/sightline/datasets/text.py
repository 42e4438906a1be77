"""Number tables and name lists as plain text, one row a line."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sightline.datasets.source import damaged, opened

_WIDEST = 32
"""Bytes of the longest number with its blanks; the official HAR files write 16."""

_LONGEST_NAME = 200


def read_numbers(
    path: Path, shape: tuple[int, int], *, whole_up_to: int | None = None
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return the finite numbers of a text file (plain or packed) that must have this shape.

    With `whole_up_to` they must also be whole numbers from 1 to it.
    """
    content = _read_at_most(path, shape[0] * shape[1] * _WIDEST)
    if not content.strip():
        raise damaged(path, "it is empty")
    try:
        values = np.loadtxt(io.BytesIO(content), comments=None, ndmin=2)
    except ValueError as unread:
        raise damaged(path, f"it is no table of numbers ({unread})") from unread
    if values.shape != shape:
        raise damaged(path, f"its shape is {values.shape}, not {shape}")
    if not np.all(np.isfinite(values)):
        raise damaged(path, "it holds NaN or infinity")
    if whole_up_to is not None and not np.all(np.isin(values, np.arange(1, whole_up_to + 1))):
        raise damaged(path, f"it holds other values than the whole numbers 1 .. {whole_up_to}")
    return values


def read_names(path: Path, count: int) -> list[str]:
    """Return the names in a file of `count` lines "number name", numbered from 1."""
    content = _read_at_most(path, count * _LONGEST_NAME)
    lines = [line.split(maxsplit=1) for line in content.decode("latin-1").splitlines()]
    numbers, names = [line[0:1] for line in lines], [line[1] for line in lines if len(line) == 2]
    if len(names) != len(lines) or numbers != [[str(i)] for i in range(1, count + 1)]:
        raise damaged(path, f'it must have {count} lines "number name", numbered from 1')
    return names


def unique_names(names: Sequence[str]) -> tuple[str, ...]:
    """Append "#1", "#2", .. to the names that come more than once, in their order."""
    total, seen = Counter(names), Counter[str]()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if total[name] == 1 else f"{name}#{seen[name]}")
    return tuple(unique)


def _read_at_most(path: Path, limit: int) -> bytes:
    with opened(path) as stream:
        content = stream.read(limit + 1)
    if len(content) > limit:
        raise damaged(path, f"it holds more than the {limit} bytes that it can need")
    return content
