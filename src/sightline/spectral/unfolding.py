"""The third moment as a tall matrix, T = mean (x (x) x) x^T of shape (d^2, d), never held.

Its right singular vectors are the eigenvectors of T^T T (d, d), which is had from the rows by

    pairs      n^-2 sum_ij <x_i, x_j>^2 x_i x_j^T       2 n^2 d operations
    slices     sum_a T_a^2,  T_a = mean x_a x x^T       n d^3 + d^4
    products   T^T (T v), for the leading vector only   4 n d^2 each

and no more than a few d x d matrices and blocks of rows are in memory at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any, TypeAlias, TypeVar

import numpy as np
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from sightline._arrays import (
    Array,
    is_numpy,
    like,
    namespace,
    to_numpy,
    wide_dtype,
)
from sightline._threads import ordered_map, thread_count
from sightline.moments import third_moment_along, third_moment_vector, weighted_mean
from sightline.rows import row_block, row_blocks

Piece = TypeVar("Piece")

Host: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
"""A float64 NumPy array, as the eigen-solvers want it."""

EXPECTED_PRODUCTS = 60
"""Products that the Lanczos method takes for one vector: measured 21 to 91, more where it ties."""

_RESTART_PRODUCTS = 10
"""Products between two restarts of the Lanczos method."""

_PAIR_BLOCK = 2048
"""Rows whose inner products with one block of rows are held at once."""


def as_host(values: Array) -> Host:
    """Return an array of any library as float64 on the host."""
    return np.asarray(to_numpy(values), dtype=np.float64)


def contracted(X: Array, direction: Host) -> Host:
    """Return T u = mean <x, u> x x^T, (d, d); its norm is the singular value of a singular u."""
    return as_host(third_moment_along(X, like(direction, X, wide_dtype(X))))


def unfolding_gram(X: Array) -> Host:
    """Return T^T T, (d, d), by pairs of rows where these are few, else by slices of T."""
    n, d = X.shape
    pairs, slices = _matrix_costs(n, d)
    return as_host(_by_pairs(X) if pairs < slices else _by_slices(X))


def products_are_cheaper(n: int, d: int, n_vectors: int) -> bool:
    """Say whether that many leading vectors cost less by products than T^T T does."""
    return n_vectors * EXPECTED_PRODUCTS * _product_cost(n, d) < min(_matrix_costs(n, d))


def leading_vector(X: Array) -> Host | None:
    """Return the leading right singular vector of T by products (Lanczos), or None if undecided.

    It may take as many products as cost what T^T T would: having tried costs no more than that.
    """
    xp = namespace(X)
    n, d = X.shape

    def product(v: Host) -> Host:
        along = third_moment_along(X, like(v, X, wide_dtype(X)))
        return as_host(weighted_mean(X, lambda rows: xp.sum((rows @ along) * rows, axis=-1)))

    products = min(_matrix_costs(n, d)) / _product_cost(n, d)
    try:
        _, vectors = eigsh(
            LinearOperator((d, d), matvec=product, dtype=np.float64),
            k=1,
            which="LA",
            v0=as_host(third_moment_vector(X)),  # a fixed start for the same bits, and a near one
            tol=1e-12,
            maxiter=max(1, round(products / _RESTART_PRODUCTS)),
        )
    except ArpackNoConvergence:
        return None
    return np.asarray(vectors[:, 0])


def _matrix_costs(n: int, d: int) -> tuple[int, int]:
    """Return the operations that T^T T takes by pairs and by slices."""
    return 2 * n**2 * d, n * d**3 + d**4


def _product_cost(n: int, d: int) -> int:
    """Return the operations of one product with T^T T."""
    return 4 * n * d**2


def _by_pairs(X: Array) -> Array:
    """Return T^T T = n^-2 sum_ij <x_i, x_j>^2 x_i x_j^T, a pair and its mirror image at once."""
    xp, wide = namespace(X), wide_dtype(X)
    n = X.shape[0]

    def half_of(block: slice) -> Array:
        rows = xp.astype(X[block, :], wide, copy=False)
        inner = rows @ rows.T
        weighted = (inner * inner) @ rows / 2
        for start in range(block.stop, n, _PAIR_BLOCK):
            others = xp.astype(X[start : start + _PAIR_BLOCK, :], wide, copy=False)
            inner = rows @ others.T
            weighted = weighted + (inner * inner) @ others
        return rows.T @ weighted

    half = _total(half_of, X, list(row_blocks(n)))
    return (half + half.T) / n**2


def _by_slices(X: Array) -> Array:
    """Return T^T T = sum_ab t_ab t_ab^T, t_ab = mean x_a x_b x, each pair a < b counted twice."""
    xp, wide = namespace(X), wide_dtype(X)
    n, d = X.shape

    def pairs_from(a: int) -> Array:
        slices: Array = 0
        for block in row_blocks(n, row_block(X)):
            rows = xp.astype(X[block, :], wide, copy=False)
            slices = slices + (rows[:, a:] * rows[:, a : a + 1]).T @ rows
        slices = slices / n
        return 2 * (slices.T @ slices) - slices[:1, :].T @ slices[:1, :]

    return _total(pairs_from, X, range(d))


def _total(part: Callable[[Piece], Array], X: Array, pieces: Sequence[Piece]) -> Array:
    """Add up parts that need all rows each, in the order of the pieces, on threads for NumPy."""
    threads = min(thread_count(), len(pieces)) if is_numpy(X) else 1
    return reduce(add, ordered_map(part, pieces, threads=threads))
