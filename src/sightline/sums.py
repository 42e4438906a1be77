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

import numpy as np

from sightline._arrays import Array, full_products, is_lazy, is_numpy, namespace, wide_dtype
from sightline.drawn import DrawnRows, as_array, drawn_sums
from sightline.indices import Index
from sightline.kernels import Partial, make_step
from sightline.rows import fold_rows, in_memory, map_rows, row_blocks

_DIRECTION_BLOCK, _SCORES = 64, 2**26
"""Directions, and scores, that are held at once for a whole-sample index."""

_LARGEST, _LEAST_SQUARE = 1e6, 1e-6
"""Largest entry, and least mean square of all, of rows that float32 may climb on.

Sums of cubes of their scores stay under 10^33 then, a hundred-thousandth of what it holds.
"""


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

    A rough one is good enough to climb by: its products are in float32 on the host (ask
    `may_be_rough` first), and rounded as far as the caller allows torch on an accelerator
    (`torch.set_float32_matmul_precision`). All else is in full.
    """
    if index.whole_sample:
        raise ValueError(
            f"index {index.name!r} has no slope, so nothing can climb it; use it as select=... "
            "beside an index that has one, such as 'relu2'."
        )
    psi = index if index.combines else None
    return _gradients(index, _folded(psi, index, directions, X, rough=rough), X)


def may_be_rough(index: Index, X: Array) -> bool:
    """Say whether gradients of an index on rows `X` may be rough.

    On the host rows of float64 have to be of a scale whose scores and slopes float32 holds with
    room to spare, as whitened rows are, and the index one that declares formulas for
    accelerators and no combination, whose weights may be small differences of means. Elsewhere
    the caller has the say.
    """
    if not (is_numpy(X) or is_lazy(X)):
        return True
    if index.combines or not index.formulas:
        return False
    if X.dtype.itemsize <= np.dtype(np.float32).itemsize:
        return True
    squares, largest = fold_rows(_scale, X, width=X.shape[1], merge=_joint_scale)
    return bool(largest <= _LARGEST and squares / X.shape[0] / X.shape[1] >= _LEAST_SQUARE)


def _scale(rows: Array) -> tuple[float, float]:
    """Return the sum of squares of rows that are not too large for it, and the largest entry."""
    largest = float(np.max(np.abs(rows), initial=0.0))
    return (float(np.vdot(rows, rows)) if largest <= _LARGEST else 0.0), largest


def _joint_scale(one: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    return one[0] + other[0], max(one[1], other[1])


def values_and_gradients(
    psi: Index, phi: Index, directions: Array, X: Array, batch: DrawnRows | None = None
) -> tuple[Array, Array]:
    """Return psi of every direction, (m,), and the gradient of phi, (m, d), from the same scores.

    psi is of all rows of `X`, and the gradient too, or of a `batch` that was drawn from them. That
    is two products in place of three, unless the scores can't be shared.
    """
    shared = batch is None and (psi is phi or psi == phi)
    if psi.whole_sample or phi.whole_sample or (phi.combines and not shared):
        rows = X if batch is None else as_array(batch)
        return index_values(psi, directions, X), index_gradients(phi, directions, rows)
    if batch is not None and is_lazy(X):  # scores that pass by can't be kept for later
        return index_values(psi, directions, X), drawn_gradients(psi, phi, directions, batch)
    if batch is None:
        sums = _folded(psi, phi, directions, X)
    else:
        sums = drawn_sums(psi, phi, directions, batch)
    values = psi.combine(_asked_for(sums.values) / X.shape[0], namespace(directions, X))
    return values, _gradients(phi, sums, X)


def drawn_gradients(psi: Index, phi: Index, directions: Array, batch: DrawnRows) -> Array:
    """Return the gradient of phi on a drawn batch, to the bits of `values_and_gradients`."""
    if psi.whole_sample or phi.whole_sample or phi.combines:
        return index_gradients(phi, directions, as_array(batch))
    return _gradients(phi, drawn_sums(None, phi, directions, batch), batch.of)


def _gradients(index: Index, sums: Partial, X: Array) -> Array:
    weights = None
    if index.combines:
        weights = index.weights(_asked_for(sums.values) / sums.count, namespace(X))
    return sums.gradients(weights, X.dtype)
