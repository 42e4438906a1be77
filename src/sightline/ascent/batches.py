"""Batches of rows for the steps of Algorithm 2: new ones, drawn again, or all rows.

New rows are drawn in random order, as long as those of a run fit into memory many times over.
Beyond, a batch is every k-th block of `ROW_BLOCK` rows: spread over the whole table, read once,
and never held.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sightline._arrays import Array, is_lazy, is_numpy, take_rows
from sightline.drawn import draw
from sightline.lazy import ROW_BLOCK, BlockRows, LazyRows, StoredRows
from sightline.rows import random_rows

_DRAWN = 2**26
"""Numbers in the rows of all steps up to which they are drawn one by one."""


class FreshRows:
    """Rows of which no two batches have one in common.

    Parameters
    ----------
    X : (n, d) rows.
    used : rows that the starts are made of.
    size, steps : rows of a batch, steps of each of the two runs.
    rng : the source of randomness.

    Attributes
    ----------
    starts : (used,) positions of the rows of the starts.
    """

    def __init__(
        self, X: Array, used: int, size: int, steps: int, rng: np.random.Generator
    ) -> None:
        self._X, self._size, self._steps = X, size, steps
        needed = used + 2 * size * steps
        self._order: np.ndarray | None = None
        if needed * X.shape[1] <= _DRAWN or not (is_numpy(X) or is_lazy(X)):
            self._order = random_rows(X.shape[0], needed, rng)
            self.starts, self._order = self._order[:used], self._order[used:]
            return
        self.starts = random_rows(X.shape[0], used, rng)
        blocks = size // ROW_BLOCK
        every = X.shape[0] // ROW_BLOCK // blocks
        which = rng.permutation(every)[: 2 * steps]
        self._blocks = [batch + every * np.arange(blocks) for batch in which]

    @property
    def size(self) -> int:
        """Rows of a batch: whole blocks where it is made of blocks."""
        return self._size if self._order is not None else self._blocks[0].size * ROW_BLOCK

    def run(self, which: int) -> tuple[Array, Iterator[Array]]:
        """Return all rows of the first run (0) or the second (1), and its batches."""
        first, size = which * self._steps, self._size
        if self._order is not None:
            rows = take_rows(self._X, self._order[first * size : (first + self._steps) * size])
            return rows, (draw(rows, i * size + np.arange(size)) for i in range(self._steps))
        table = self._X if is_lazy(self._X) else _as_lazy(self._X)
        blocks = self._blocks[first : first + self._steps]
        whole = BlockRows(table, np.sort(np.concatenate(blocks)))
        return whole, (BlockRows(table, batch) for batch in blocks)


def _as_lazy(X: np.ndarray) -> LazyRows:
    return StoredRows(lambda start, stop: X[start:stop], X.shape, X.dtype)
