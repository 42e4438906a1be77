"""Sums over rows: a kernel returns sums and their count, and only the top of the call divides.

For directions U (m, d) and rows X_b (b, d), one block is two matrix products around an
elementwise map,

    T = X_b U^T,      values = sum_rows phi(T),      slopes = phi'(T)^T X_b,

all starts at once (`kernels`). Sums merge, so the same kernel serves a block in cache, a file, a
GPU chunk or a remote partition; `rows` says how blocks are cut and in what order they are merged.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass

from sightline._arrays import Array, full_products, namespace, wide_dtype
from sightline.indices import Index
from sightline.kernels import Partial, make_step
from sightline.rows import fold_rows, in_memory, map_rows, row_blocks

_DIRECTION_BLOCK, _SCORES = 64, 2**26
"""Directions, and scores, that are held at once for a whole-sample index."""


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


def _add(first: Array | None, second: Array | None) -> Array | None:
    return None if first is None or second is None else first + second


def _asked_for(part: Array | None) -> Array:
    if part is None:
        raise ValueError("this part of the sums was not asked for")
    return part


def index_sums(
    index: Index, directions: Array, X: Array, *, values: bool = True, slopes: bool = False
) -> Sums:
    """Sum over all rows of `X`, in fixed blocks."""
    psi, phi = (index if asked else None for asked in (values, slopes))
    return _as_sums(_folded(psi, phi, directions, X))


def _folded(
    psi: Index | None, phi: Index | None, directions: Array, X: Array, *, rough: bool = False
) -> Partial:
    """Sum the values of `psi` and the slopes of `phi`, from the same scores."""
    with nullcontext() if rough else full_products(X):
        step = make_step(psi, phi, directions, X, rough=rough)
        table, width = step.table(X), directions.shape[0]
        return fold_rows(step, table, width=width, size=step.block, merge=Partial.absorb)


def _as_sums(partial: Partial) -> Sums:
    """Return sums that may be read as often as one likes."""
    pulls = partial.pulls
    if pulls is None:
        return Sums(partial.count, partial.values)
    xp = namespace(pulls)
    slopes = xp.astype(xp.matrix_transpose(pulls), wide_dtype(pulls), copy=False)
    return Sums(partial.count, partial.values, slopes)


def all_scores(directions: Array, X: Array) -> Array:
    """Return the scores <x, u> of all rows at once, (n, m), in the dtype of `X`."""
    with full_products(X):
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


def index_gradients(index: Index, directions: Array, X: Array, *, rough: bool = False) -> Array:
    """Return the Euclidean gradient of the index at every direction, (m, d), in the dtype of X.

    A rough one is good enough to climb by: its products are rounded as far as the caller allows
    torch on an accelerator (`torch.set_float32_matmul_precision`). All else is in full.
    """
    if index.whole_sample:
        raise ValueError(
            f"index {index.name!r} has no slope, so nothing can climb it; use it as select=... "
            "beside an index that has one, such as 'relu2'."
        )
    psi = index if index.combines else None
    return _gradients(index, _folded(psi, index, directions, X, rough=rough), X)


def values_and_gradients(
    psi: Index, phi: Index, directions: Array, X: Array
) -> tuple[Array, Array]:
    """Return psi of every direction, (m,), and the gradient of phi, (m, d), from the same scores.

    That is two products in place of three, unless the scores can't be shared.
    """
    shared = psi is phi or psi == phi
    if psi.whole_sample or phi.whole_sample or (phi.combines and not shared):
        return index_values(psi, directions, X), index_gradients(phi, directions, X)
    sums = _folded(psi, phi, directions, X)
    values = psi.combine(_asked_for(sums.values) / sums.count, namespace(directions, X))
    return values, _gradients(phi, sums, X)


def _gradients(index: Index, sums: Partial, X: Array) -> Array:
    weights = None
    if index.combines:
        weights = index.weights(_asked_for(sums.values) / sums.count, namespace(X))
    return sums.gradients(weights, X.dtype)
