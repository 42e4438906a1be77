"""Memory that one step has used is kept for the next: fresh pages cost more than the map itself.

A step of hundreds of starts writes scores, slopes and sums of a megabyte each for every block.
Allocated anew, each page is faulted in and cleared first, which takes as long as several passes
of arithmetic over it.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

Host = np.ndarray[Any, np.dtype[Any]]

_MOST_KEPT = 2**26
"""Bytes that are kept in all; what comes back beyond that is let go."""


class Buffers:
    """Arrays that are free to be used, by shape and dtype."""

    def __init__(self) -> None:
        self._free: dict[tuple[tuple[int, ...], np.dtype[Any]], list[Host]] = {}
        self._kept = 0
        self._lock = threading.Lock()

    def take(self, shape: tuple[int, ...], dtype: Any) -> Host:
        """Return an array in C order, its contents whatever they are."""
        with self._lock:
            free = self._free.get((shape, np.dtype(dtype)))
            if free:
                array = free.pop()
                self._kept -= array.nbytes
                return array
        return np.empty(shape, dtype)

    def give(self, array: Host) -> None:
        """Hand back an array that `take` returned; nobody may use it any more."""
        if not (array.flags.owndata and array.flags.writeable):  # came by another way: by post
            return
        with self._lock:
            if self._kept + array.nbytes > _MOST_KEPT:  # shapes of an earlier fit, most likely
                self._free.clear()
                self._kept = 0
            if array.nbytes <= _MOST_KEPT:
                self._free.setdefault((array.shape, array.dtype), []).append(array)
                self._kept += array.nbytes


_buffers = Buffers()
take, give = _buffers.take, _buffers.give
