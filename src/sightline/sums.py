"""Sums over rows: a kernel returns sums and their count, and only the top of the call divides.

For directions U (m, d) and rows X_b (b, d), one block is two matrix products around an
elementwise map,

    T = X_b U^T,      values = sum_rows phi(T),      slopes = phi'(T)^T X_b,

all starts at once. Sums merge, so the same kernel serves a block in cache, a file, a GPU chunk or
a remote partition; `rows` says how blocks are cut and in what order they are merged.
"""

from __future__ import annotations

from dataclasses import dataclass

from sightline._arrays import Array, namespace, wide_dtype
from sightline.indices import Index
from sightline.indices.contract import with_feature_axis
from sightline.rows import fold_rows, in_memory, map_rows, row_blocks

_DIRECTION_BLOCK, _SCORES = 64, 2**26
"""Directions, and scores, that are held at once for a whole-sample index."""

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
    """Sum over all rows of `X`, in fixed blocks."""

    def part(rows: Array) -> Sums:
        return block_sums(index, directions, rows, values=values, slopes=slopes)

    return fold_rows(part, X, width=directions.shape[0])


def all_scores(directions: Array, X: Array) -> Array:
    """Return the scores <x, u> of all rows at once, (n, m), in the dtype of `X`."""
    return in_memory(map_rows(lambda rows: rows @ directions.T, X, width=directions.shape[0]))


def index_values(index: Index, directions: Array, X: Array) -> Array:
    """Return the value of every direction on the rows of `X`, shape (m,), in the wide dtype."""
    xp = namespace(directions, X)
    if index.whole_sample:
        at_once = max(1, min(_DIRECTION_BLOCK, _SCORES // max(1, X.shape[0])))
        some = [directions[b, :] for b in row_blocks(directions.shape[0], at_once)]
        parts = [index.value_of_sample(all_scores(u, X), xp) for u in some]
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
