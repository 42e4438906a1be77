"""Sums over the rows of a NumPy block, by short runs in the block's own dtype.

A run of 32 numbers of float32 loses at most 31 roundings, however many rows there are; runs are
added in float64. A run's sum is a product with ones, which BLAS does in half the time of NumPy's
sum over that axis.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

Host = np.ndarray[Any, np.dtype[Any]]

RUN = 32
"""Rows that are added, or multiplied, in the data's own dtype."""


@cache
def _ones(dtype: np.dtype[Any]) -> Host:
    ones = np.ones(RUN, dtype)
    ones.flags.writeable = False
    return ones


def run_sums(values: Host) -> Host:
    """Return the sums over rows, (..., b, m) -> (..., m), in float64; BLAS has one thread."""
    head, tail = _runs(values)
    total: Host = (_ones(values.dtype) @ head).sum(axis=-2, dtype=np.float64)
    if tail is not None:
        total += tail.sum(axis=-2, dtype=np.float64)
    return total


def run_logarithms(factors: Host) -> Host:
    """Return the sums over rows of the logarithms of factors from 1 to 2, (b, m) -> (m,).

    That of a run is the logarithm of its product, at most 2^32: one logarithm in place of 32, and
    each multiplication rounds as the addition of two logarithms does.
    """
    head, tail = _runs(factors)
    total: Host = np.log(np.multiply.reduce(head, axis=-2), dtype=np.float64).sum(axis=-2)
    if tail is not None:
        total += np.log(np.multiply.reduce(tail, axis=-2), dtype=np.float64)
    return total


def _runs(values: Host) -> tuple[Host, Host | None]:
    """Return whole runs, (..., b // 32, 32, m), and the rows left over, if there are any."""
    *leading, rows, columns = values.shape
    even = rows - rows % RUN
    head = values[..., :even, :].reshape(*leading, even // RUN, RUN, columns)
    return head, None if even == rows else values[..., even:, :]
