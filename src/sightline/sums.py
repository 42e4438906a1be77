"""Sums over rows: a kernel returns sums and their count, and only the top of the call divides.

For directions U (m, d) and rows X_b (b, d), one block is two matrix products around an
elementwise map,

    T = X_b U^T,      values = sum_rows phi(T),      slopes = phi'(T)^T X_b,

all starts at once. Sums merge, so the same kernel serves a block in cache, a file, a GPU chunk or
a remote partition. Blocks have a fixed number of rows and are merged one by one in their order:
rows that come from elsewhere but are cut and merged likewise give the same bits. That is so for a
fixed number of BLAS threads; OpenBLAS rounds its larger products otherwise on one and on two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add

from sightline._arrays import Array, is_numpy, namespace, on_host, wide_dtype
from sightline._threads import ordered_map, thread_count
from sightline.indices import Index
from sightline.indices.contract import with_feature_axis

ROW_BLOCK = 512
"""Rows of a block: its scores for a few hundred starts stay in the second-level cache."""

_DEVICE_BLOCK = 65536
"""Rows of a block on an accelerator, where a launch costs more than a cache miss."""

_SPANS = 64
"""Runs of blocks that threads take one at a time; each holds sums until its turn to be added."""

_WORTH_A_THREAD = 2**15
"""Scores in a block from which handing it to a thread costs less than computing it here."""

_DIRECTION_BLOCK = 64
"""Directions whose scores over all rows are held at once for a whole-sample index."""

_ACCUMULATE = 32
"""Rows that are added in the data's own dtype before the sum goes on in a wide one."""


@dataclass(frozen=True, slots=True)
class Sums:
    """Sums over `count` rows of each feature's value (f, m) and its slope times the row (f, m, d).

    Either part is None where the caller did not ask for it.
    """

    count: int
    values: Array | None = None
    slopes: Array | None = None

    def __add__(self, other: Sums) -> Sums:
        """Merge two sums over different rows."""
        return Sums(
            self.count + other.count,
            _add(self.values, other.values),
            _add(self.slopes, other.slopes),
        )

    @property
    def mean_values(self) -> Array:
        """Each feature's mean value, (f, m)."""
        return _asked_for(self.values) / self.count

    @property
    def mean_slopes(self) -> Array:
        """Each feature's mean slope times the row, (f, m, d)."""
        return _asked_for(self.slopes) / self.count


def _add(first: Array | None, second: Array | None) -> Array | None:
    return None if first is None or second is None else first + second


def _asked_for(part: Array | None) -> Array:
    if part is None:
        raise ValueError("this part of the sums was not asked for")
    return part


def row_block(X: Array) -> int:
    """Return how many rows of `X` a block has: a constant of the kind of device."""
    return ROW_BLOCK if on_host(X) else _DEVICE_BLOCK


def row_blocks(n_rows: int, size: int = ROW_BLOCK) -> Iterator[slice]:
    """Cut `n_rows` rows into slices of `size`, the last one shorter."""
    return (slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size))


def require_rows(X: Array) -> None:
    """Raise where `X` has no rows, of which there is no mean."""
    if X.shape[0] == 0:
        raise ValueError("X has 0 rows; a mean is over at least one row.")


def sum_rows(values: Array) -> Array:
    """Sum over the rows (axis -2) in the wide dtype, by short runs in the data's own."""
    xp = namespace(values)
    *leading, rows, columns = values.shape
    even = rows - rows % _ACCUMULATE
    head = xp.reshape(values[..., :even, :], (*leading, even // _ACCUMULATE, _ACCUMULATE, columns))
    wide = wide_dtype(values)
    total = xp.sum(xp.sum(head, axis=-2), axis=-2, dtype=wide)
    return total + xp.sum(values[..., even:, :], axis=-2, dtype=wide)


def block_sums(
    index: Index, directions: Array, rows: Array, *, values: bool, slopes: bool
) -> Sums:
    """Sum the index's features and their slopes over one block of rows, for all directions."""
    xp = namespace(directions, rows)
    scores = rows @ directions.T
    value = slope = None
    if values and slopes:
        value, slope = index.value_slope(scores, xp)
    elif values:
        value = index.value(scores, xp)
    elif slopes:
        slope = index.slope(scores, xp)
    if value is not None:
        value = sum_rows(with_feature_axis(index, value, scores))
    if slope is not None:
        slope = with_feature_axis(index, slope, scores)
        slope = xp.astype(xp.matmul(xp.matrix_transpose(slope), rows), wide_dtype(rows))
    return Sums(rows.shape[0], value, slope)


def index_sums(
    index: Index, directions: Array, X: Array, *, values: bool = True, slopes: bool = False
) -> Sums:
    """Sum over all rows of `X`: blocks within spans, spans within the whole, in fixed order.

    Spans of NumPy rows are shared out among threads. Where they are cut depends on the number of
    rows alone, so the bits don't depend on the threads.
    """
    require_rows(X)
    size = row_block(X)
    blocks = list(row_blocks(X.shape[0], size))
    length = -(-len(blocks) // _SPANS)
    spans = [blocks[first : first + length] for first in range(0, len(blocks), length)]

    def span_sums(span: list[slice]) -> Sums:
        parts = (
            block_sums(index, directions, X[block, :], values=values, slopes=slopes)
            for block in span
        )
        return reduce(add, parts)

    worth_it = is_numpy(X) and min(X.shape[0], size) * directions.shape[0] >= _WORTH_A_THREAD
    threads = min(thread_count(), len(spans)) if worth_it else 1
    return reduce(add, ordered_map(span_sums, spans, threads=threads))


def index_values(index: Index, directions: Array, X: Array) -> Array:
    """Return the value of every direction on the rows of `X`, shape (m,), in the wide dtype."""
    xp = namespace(directions, X)
    if index.whole_sample:
        require_rows(X)
        parts = [
            index.value_of_sample(X @ directions[block, :].T, xp)
            for block in row_blocks(directions.shape[0], _DIRECTION_BLOCK)
        ]
        return xp.astype(xp.concat(parts), wide_dtype(X))
    return index.combine(index_sums(index, directions, X).mean_values, xp)


def index_gradients(index: Index, directions: Array, X: Array) -> Array:
    """Return the Euclidean gradient of the index at every direction, (m, d), in the dtype of X."""
    xp = namespace(directions, X)
    if index.whole_sample:
        raise ValueError(
            f"index {index.name!r} has no slope, so nothing can climb it; use it as select=... "
            "beside an index that has one, such as 'relu2'."
        )
    sums = index_sums(index, directions, X, values=index.combines, slopes=True)
    if not index.combines:
        return xp.astype(sums.mean_slopes[0, ...], X.dtype)
    weights = index.weights(sums.mean_values, xp)
    return xp.astype(xp.sum(weights[..., None] * sums.mean_slopes, axis=0), X.dtype)
