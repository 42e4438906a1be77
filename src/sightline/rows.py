"""Fixed blocks of rows: folded into sums, or mapped into new rows, the same bits on any machine.

Blocks have a fixed number of rows and their results are merged in their order, in a tree that
depends on the number of rows alone. NumPy blocks are shared out among threads, with one BLAS
thread inside each; an accelerator takes larger blocks, one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from operator import add
from typing import Any, TypeVar

from sightline._arrays import Array, device_of, is_numpy, is_writable, namespace, on_host
from sightline._threads import ordered_map, thread_count

ROW_BLOCK = 512
"""Rows of a block: its scores for a few hundred starts stay in the second-level cache."""

_DEVICE_BLOCK = 65536
"""Rows of a block on an accelerator, where a launch costs more than a cache miss."""

_SPANS = 64
"""Runs of blocks that threads take one at a time; each holds sums until its turn to be added."""

_WORTH_A_THREAD = 2**15
"""Numbers that a block computes from which handing it to a thread costs less than doing it."""

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


def fold_rows(
    part: Callable[[Array], Part], X: Array, *, width: int, size: int | None = None
) -> Part:
    """Return the sum of `part(rows)` over the blocks of `X`: within spans first, then of spans.

    Parameters
    ----------
    part : maps a block of rows to anything that adds.
    X : (n, d) rows.
    width : about how many numbers `part` computes a row, to tell what is worth a thread.
    size : rows of a block; None is the device's own.
    """
    require_rows(X)
    size = size or row_block(X)
    blocks = list(row_blocks(X.shape[0], size))
    length = -(-len(blocks) // _SPANS)
    spans = [blocks[first : first + length] for first in range(0, len(blocks), length)]

    def of_span(span: list[slice]) -> Part:
        return reduce(add, (part(X[block, :]) for block in span))

    return reduce(add, ordered_map(of_span, spans, threads=_threads(X, len(spans), size * width)))


def map_rows(function: Callable[[Array], Array], X: Array, *, width: int) -> Array:
    """Return the rows `function(block)` (b, width) of all blocks of `X`, in the dtype of `X`.

    They are written into one new array where the library's arrays can be written to, so that the
    whole is never held twice.
    """
    require_rows(X)
    xp = namespace(X)
    size = row_block(X)
    blocks = list(row_blocks(X.shape[0], size))

    def of_block(block: slice) -> Array:
        return xp.astype(function(X[block, :]), X.dtype, copy=False)

    results = ordered_map(of_block, blocks, threads=_threads(X, len(blocks), size * width))
    if not is_writable(X):
        return xp.concat(list(results))
    whole = xp.empty((X.shape[0], width), dtype=X.dtype, device=device_of(X))
    for block, rows in zip(blocks, results, strict=True):
        whole[block, :] = rows
    return whole


def _threads(X: Array, pieces: int, work: int) -> int:
    """Return how many threads the pieces are worth."""
    return min(thread_count(), pieces) if is_numpy(X) and work >= _WORTH_A_THREAD else 1
