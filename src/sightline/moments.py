"""Third and fourth moments of the rows, as d x d matrices and vectors, never larger.

Each is a mean over rows of a weight times x or x x^T, summed in fixed blocks, so that weights that
depend on the row's norm or its score along a direction cost one matrix product a block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sightline._arrays import Array, is_lazy, namespace, wide_dtype
from sightline.rows import fold_rows

Weights = Callable[[Array], Array]
"""Maps a block of rows (b, d) to a weight for each row (b,)."""


def squared_norms(rows: Array) -> Array:
    """Return |x|^2 for every row."""
    return namespace(rows).sum(rows * rows, axis=-1)


def weighted_mean(X: Array, weights: Weights) -> Array:
    """Return mean_i w(x_i) x_i, shape (d,), in the wide dtype."""
    wide = _widened(X)
    return fold_rows(lambda rows: weights(wide(rows)) @ wide(rows), X, width=1) / X.shape[0]


def weighted_scatter(X: Array, weights: Weights) -> Array:
    """Return mean_i w(x_i) x_i x_i^T, shape (d, d), in the wide dtype."""
    wide = _widened(X)

    def scatter(block: Array) -> Array:
        rows = wide(block)
        return (rows * weights(rows)[:, None]).T @ rows

    return fold_rows(scatter, X, width=X.shape[1]) / X.shape[0]


def _widened(X: Array) -> Callable[[Array], Array]:
    xp, dtype = namespace(X), wide_dtype(X)
    return lambda rows: xp.astype(rows, dtype, copy=False)


def third_moment_vector(X: Array) -> Array:
    """Return mean |x|^2 x, the third moment contracted with itself: points to the skewed side."""
    return weighted_mean(X, squared_norms)


def third_moment_along(X: Array, direction: Array) -> Array:
    """Return mean <x, v> x x^T, the third moment contracted with a direction v (d,)."""
    xp = namespace(X)
    v = xp.astype(direction, wide_dtype(X), copy=False)
    return weighted_scatter(X, lambda rows: rows @ v)


def fourth_moment_matrix(X: Array) -> Array:
    """Return mean |x|^2 x x^T, the kurtosis matrix of Cov4max and Cov4min."""
    return weighted_scatter(X, squared_norms)


def check_scale(X: Array, dtype: Any = None) -> None:
    """Raise where moments of the rows would overflow, or all of them underflow.

    Sixth powers of the entries must fit into the wide dtype (sums of products of third moments)
    and fourth powers into `dtype`, that of `X` unless named, each with some room for sums. Rows
    that are not in memory would have to be read for it, and are not looked at.
    """
    if is_lazy(X):
        return
    xp = namespace(X)
    largest = max(float(xp.max(X)), -float(xp.min(X)))
    if largest == 0:
        raise ValueError("every entry of X is 0, so that no direction differs from another.")
    wide, own = xp.finfo(wide_dtype(X)), xp.finfo(dtype or X.dtype)
    low = max(float(wide.smallest_normal) ** (1 / 8), float(own.smallest_normal) ** (1 / 5))
    high = min(float(wide.max) ** (1 / 8), float(own.max) ** (1 / 5))
    if not low <= largest <= high:
        raise ValueError(
            f"the largest entry of X is {largest:.3g} in size; it must be between {low:.1g} and "
            f"{high:.1g} for its moments to fit into numbers. Centre and whiten X first."
        )
