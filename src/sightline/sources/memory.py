"""How much memory a table may take, and a ceiling while it is read.

A file can state sizes that it does not have. What can be known is checked against the limit before
anything is allocated; what a decoder allocates on its own meets the ceiling, where the operating
system has one, and ends in a MemoryError rather than in the end of the process.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sightline.sources.errors import TooLargeError

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

_ROOM = 256 * 2**20
"""Bytes beside the table that decoders and buffers may take."""


def parse_memory(text: str) -> int:
    """Return the bytes of "2G", "500 MB", "1.5GiB"; units are powers of 1024."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    size = int(float(match[1]) * _UNITS[match[2].upper()]) if match else 0
    if size <= 0:
        raise ValueError(f"max_memory={text!r} must be a size such as '500M' or '2G'.")
    return size


def half_of_memory() -> int:
    """Return half of the machine's memory in bytes, or 4 GiB where it does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, ValueError, OSError):
        return 4 * 2**30


def show_bytes(size: float) -> str:
    """Write a number of bytes as people do."""
    for unit in ("bytes", "KB", "MB"):
        if size < 1024:
            return f"{size:.0f} {unit}"
        size /= 1024
    return f"{size:.1f} GB"


def check_fits(name: str, needed: int, limit: int) -> None:
    """Raise where a table of `needed` bytes is over the limit."""
    if needed > limit:
        raise TooLargeError(
            f"{name} needs {show_bytes(needed)} as a table of numbers; the limit is "
            f"{show_bytes(limit)}. Take fewer columns (--columns) or raise --max-memory."
        )


@contextmanager
def ceiling(limit: int) -> Iterator[None]:
    """Let the process allocate `limit` bytes and some room more than it has, and no more."""
    try:
        import resource  # noqa: PLC0415  (not on every system)

        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        held = int(re.search(r"VmData:\s*(\d+)", status)[1]) * 1024  # type: ignore[index]
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    except (ImportError, OSError, TypeError):
        yield
        return
    wanted = held + limit + _ROOM
    bounds = [bound for bound in (soft, hard, wanted) if bound != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min(bounds), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
