"""Sums of a step over some rows, and what they are good for in the end.

A pull is X_b^T phi'(T), of shape (f, d, m): the layout in which BLAS is fastest. Over at most
`_NARROW_ROWS` rows pulls are added in the dtype of the rows, which costs a quarter of a wide
addition, then in the wide dtype. The rule looks at the number of rows alone, so a tree over blocks
has the same bits wherever its nodes were added.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sightline._arrays import Array, is_numpy, namespace, wide_dtype
from sightline.kernels.buffers import Host, give, take

_NARROW_ROWS = 4096
"""Rows over which pulls are added in their own dtype: eight blocks, three roundings in a tree."""


@dataclass(slots=True)
class Partial:
    """Sums over `count` rows of values (f, m) and pulls (f, d, m), or None where not asked for."""

    count: int
    values: Array | None
    pulls: Array | None

    def __add__(self, other: Partial) -> Partial:
        """Merge two sums over different rows."""
        return self._merged(other, _added)

    def absorb(self, other: Partial) -> Partial:
        """Merge as `+` does, in the memory of either; neither may be used afterwards."""
        return self._merged(other, _added_in_place if is_numpy(self.pulls) else _added)

    def _merged(self, other: Partial, added: Callable[[Array, Array, Any], Array]) -> Partial:
        count = self.count + other.count
        values = pulls = None
        if self.values is not None and other.values is not None:
            values = self.values + other.values
        if self.pulls is not None and other.pulls is not None:
            narrow = count <= _NARROW_ROWS and self.pulls.dtype == other.pulls.dtype
            dtype = self.pulls.dtype if narrow else wide_dtype(self.pulls)
            pulls = added(self.pulls, other.pulls, dtype)
        return Partial(count, values, pulls)

    def gradients(self, weights: Array | None, dtype: Any) -> Array:
        """Return sum_j weights_j mean pull_j as directions (m, d); this is the end of the sums.

        Without weights there is one feature.
        """
        pulls = self.pulls
        if pulls is None:
            raise ValueError("pulls were not asked for")
        if is_numpy(pulls):
            return _host_gradients(pulls, self.count, weights, dtype)
        xp = namespace(pulls)
        means = pulls / self.count
        if weights is None:
            total = means[0, ...]
        else:
            total = xp.sum(xp.astype(weights, means.dtype)[:, None, :] * means, axis=0)
        return xp.astype(total.T, dtype)


def _added(total: Array, part: Array, dtype: Any) -> Array:
    xp = namespace(total)
    return xp.astype(total, dtype, copy=False) + xp.astype(part, dtype, copy=False)


def _added_in_place(total: Host, part: Host, dtype: Any) -> Host:
    into = total if total.dtype == dtype else part if part.dtype == dtype else None
    into = take(total.shape, dtype) if into is None else into
    np.add(total, part, out=into, dtype=dtype)
    for used in (total, part):
        if used is not into:
            give(used)
    return into


def _host_gradients(pulls: Host, count: int, weights: Host | None, dtype: Any) -> Host:
    """Scale in one pass, in memory that is there, and lay directions out as rows."""
    if weights is None:
        total = pulls[0]
        scaled = take(total.shape, dtype)
        np.multiply(total, 1 / count, out=scaled, casting="same_kind")
    else:
        scaled = np.einsum("jm,jdm->dm", weights / count, pulls).astype(dtype)
    gradients = np.ascontiguousarray(scaled.T)
    if weights is None and not np.shares_memory(gradients, scaled):
        give(scaled)
    give(pulls)
    return gradients
