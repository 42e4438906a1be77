"""Fixed blocks of rows: folded into sums, or mapped into new rows, the same bits on any machine.

Blocks have a fixed number of rows and their results are merged in a binary tree that depends on
the number of rows alone. NumPy blocks are shared out among threads, with one BLAS thread inside
each; an accelerator takes larger blocks, one after the other; lazy rows (`lazy`) are read in runs
of whole blocks, wherever they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from operator import add
from typing import Any, TypeVar

import numpy as np

from sightline._arrays import (
    Array,
    device_of,
    is_lazy,
    is_numpy,
    is_writable,
    namespace,
    on_host,
    take_rows,
    wide_dtype,
)
from sightline._threads import ordered_map, thread_count
from sightline.lazy import ROW_BLOCK, tree_sum

_DEVICE_BLOCK = 65536
"""Rows of a block on an accelerator, where a launch costs more than a cache miss."""

_SPANS = 64
"""At most so many runs of blocks are handed to threads, each a node of the tree."""

_ACCUMULATE = 32
"""Rows that are added in the data's own dtype before the sum goes on in a wide one."""

_WORTH_A_THREAD = 2**15
"""Numbers that a block computes from which handing it to a thread costs less than doing it."""

WHOLE_ORDER = 2**20
"""Rows up to which a random order is made whole."""

Part = TypeVar("Part", bound=Any)


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


def fold_rows(
    part: Callable[[Array], Part],
    X: Array,
    *,
    width: int,
    size: int | None = None,
    merge: Callable[[Part, Part], Part] = add,
) -> Part:
    """Return the sum of `part(rows)` over the blocks of `X`, in a binary tree over the blocks.

    Parameters
    ----------
    part : maps a block of rows to anything that adds.
    X : (n, d) rows.
    width : about how many numbers `part` computes a row, to tell what is worth a thread.
    size : rows of a block; None is the device's own.
    merge : adds parts of rows in memory, of which it is the only owner: it may add in place.
    """
    require_rows(X)
    size = size or row_block(X)
    if is_lazy(X):  # parts that a run has returned are somebody's: they are added as they are
        folded: Part = X.fold(partial(_fold, part, merge, size, 1))
        return folded
    return _fold(part, merge, size, _threads(X, -(-X.shape[0] // size), size * width), X)


def _fold(
    part: Callable[[Array], Part],
    merge: Callable[[Part, Part], Part],
    size: int,
    threads: int,
    X: Array,
) -> Part:
    """Fold rows in memory."""
    blocks = list(row_blocks(X.shape[0], size))
    return _fold_blocks(lambda block: part(X[block, :]), merge, blocks, threads)


def fold_blocks(
    part: Callable[[slice], Part],
    X: Array,
    *,
    width: int,
    merge: Callable[[Part, Part], Part] = add,
) -> Part:
    """Return the sum of `part(block)` over the blocks of a NumPy `X`, as `fold_rows` adds them.

    It is for parts that have to know which rows theirs are.
    """
    require_rows(X)
    blocks = list(row_blocks(X.shape[0]))
    return _fold_blocks(part, merge, blocks, _threads(X, len(blocks), ROW_BLOCK * width))


def _fold_blocks(
    part: Callable[[slice], Part],
    merge: Callable[[Part, Part], Part],
    blocks: list[slice],
    threads: int,
) -> Part:
    """Fold blocks; a span is 2^k of them, a node of the tree."""
    length = 1
    while len(blocks) > _SPANS * length:
        length *= 2

    def of_span(first: int) -> Part:
        return tree_sum(map(part, blocks[first : first + length]), merge)

    return tree_sum(ordered_map(of_span, range(0, len(blocks), length), threads=threads), merge)


def map_rows(function: Callable[[Array], Array], X: Array, *, width: int) -> Array:
    """Return the rows `function(block)` (b, width) of all blocks of `X`, in the dtype of `X`.

    They are written into one new array where the library's arrays can be written to, so that the
    whole is never held twice. Those of lazy rows are lazy.
    """
    require_rows(X)
    if is_lazy(X):
        return X.mapped(partial(_map, function, width, 1), width)
    size = row_block(X)
    return _map(function, width, _threads(X, -(-X.shape[0] // size), size * width), X)


def _map(function: Callable[[Array], Array], width: int, threads: int, X: Array) -> Array:
    """Map rows in memory."""
    xp = namespace(X)
    blocks = list(row_blocks(X.shape[0], row_block(X)))
    if is_numpy(X):
        rows = np.empty((X.shape[0], width), X.dtype)

        def write(block: slice) -> None:
            rows[block] = function(X[block])

        for _ in ordered_map(write, blocks, threads=threads):
            pass
        return rows

    def of_block(block: slice) -> Array:
        return xp.astype(function(X[block, :]), X.dtype, copy=False)

    mapped = ordered_map(of_block, blocks, threads=1)
    if not is_writable(X):
        return xp.concat(list(mapped))
    whole = xp.empty((X.shape[0], width), dtype=X.dtype, device=device_of(X))
    for block, some in zip(blocks, mapped, strict=True):
        whole[block, :] = some
    return whole


def in_memory(X: Array) -> Array:
    """Return lazy rows as an array, and an array as it is."""
    return X.in_memory() if is_lazy(X) else X


def pieces(X: Array) -> Iterator[Array]:
    """Yield the rows in order, in arrays: as they are read, or all at once."""
    return X.runs(_itself) if is_lazy(X) else iter((X,))


def _itself(rows: Array) -> Array:
    return rows


def finished(X: Array) -> Array:
    """Return lazy rows as what their owner wants of them, and an array as it is."""
    return X.finished() if is_lazy(X) else X


def random_rows(n_rows: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return the first `count` of the positions of `n_rows` rows in random order.

    Past `WHOLE_ORDER` rows only those that are asked for are drawn (Fisher and Yates's shuffle,
    of which the places that were touched are held): the order of all would be a table itself.
    """
    if n_rows <= WHOLE_ORDER:
        return rng.permutation(n_rows)[:count]
    places = np.arange(min(count, n_rows))
    moved: dict[int, int] = {}
    drawn = np.empty_like(places)
    for place, other in zip(places.tolist(), rng.integers(places, n_rows).tolist(), strict=True):
        drawn[place] = moved.get(other, other)
        moved[other] = moved.get(place, place)
    return drawn


def spaced_rows(X: Array, most: int) -> Array:
    """Return at most `most` rows, evenly spaced."""
    apart = -(-X.shape[0] // most)
    return take_rows(X, np.arange(0, X.shape[0], apart)) if is_lazy(X) else X[::apart, :]


def _threads(X: Array, pieces: int, work: int) -> int:
    """Return how many threads the pieces are worth."""
    return min(thread_count(), pieces) if is_numpy(X) and work >= _WORTH_A_THREAD else 1
