"""Rows that are not in memory, in the place of an array: what they can do, and how they add."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import add
from typing import Any, TypeAlias, TypeVar

import numpy as np

from sightline._arrays import Namespace, namespace
from sightline._threads import ordered_map, thread_count

ROW_BLOCK = 512
"""Rows of a block: its scores for a few hundred starts stay in the second-level cache."""

UNIT = 4096
"""Runs begin at a multiple of this many rows; sizes of blocks divide it."""

_RUN_BYTES = 2**24
"""A run is the most rows, a power of two times `UNIT`, that take no more than this."""

Host: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Part = TypeVar("Part", bound=Any)


def tree_sum(parts: Iterable[Part], merge: Callable[[Part, Part], Part] = add) -> Part:
    """Add parts in a binary tree: neighbours first, an odd one out as it is, level after level.

    The sum of 2^k parts that begin at a multiple of 2^k is a node of the tree, so it may be taken
    anywhere beforehand. No more than log2 of them are ever held.
    """
    waiting: list[tuple[int, Part]] = []
    for part in parts:
        level, total = 0, part
        while waiting and waiting[-1][0] == level:
            total = merge(waiting.pop()[1], total)
            level += 1
        waiting.append((level, total))
    total = waiting.pop()[1]
    while waiting:
        total = merge(waiting.pop()[1], total)
    return total


def run_length(row_bytes: int, most: int = _RUN_BYTES) -> int:
    """Return how many rows a run has: a power of two times `UNIT`."""
    return int(UNIT * 2 ** max(0, int(np.log2(max(1, most // (row_bytes * UNIT))))))


class LazyRows:
    """A table (n, d) of float32 or float64, in the place of an array of rows.

    Attributes
    ----------
    shape : (n, d).
    dtype : of the rows.
    columns : names of the columns, or None.
    """

    is_lazy = True
    ndim = 2
    device = "cpu"

    def __init__(self, shape: tuple[int, int], dtype: Any, columns: Any = None) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self.columns = columns

    def __array_namespace__(self, *, api_version: str | None = None) -> Namespace:
        """Return the namespace of the rows once they are read."""
        return namespace(np.empty(0))

    def __reduce__(self) -> Any:
        raise TypeError(
            "rows that are not in memory stay where they are; what is done to a block must not "
            "hold the table that the block is from."
        )

    def runs(self, of_run: Callable[[Host], Part]) -> Iterator[Part]:
        """Yield `of_run(rows)` for each run of rows, in their order."""
        raise NotImplementedError

    def fold(self, of_run: Callable[[Host], Part]) -> Part:
        """Return the sum of `of_run(rows)` over all runs."""
        return tree_sum(self.runs(of_run))

    def take(self, positions: Host, through: Callable[[Host], Host] | None = None) -> Host:
        """Return rows by position, of which `through` has seen the whole blocks first."""
        raise NotImplementedError

    def mapped(self, function: Callable[[Host], Host], width: int) -> LazyRows:
        """Return the rows (n, width) that `function` makes of whole blocks, when they are read."""
        return MappedRows(self, function, width)

    def in_memory(self) -> Host:
        """Return all rows as an array."""
        whole = np.empty(self.shape, self.dtype)
        filled = 0
        for rows in self.runs(_as_they_are):
            whole[filled : filled + rows.shape[0]] = rows
            filled += rows.shape[0]
        return whole

    def finished_through(self, function: Callable[[Host], Host], width: int) -> Any:
        """Return all rows (n, width) of a function, as whoever gave the table wants them."""
        return self.mapped(function, width).in_memory()


class MappedRows(LazyRows):
    """Rows that a function makes of other lazy rows each time that they are read."""

    def __init__(self, base: LazyRows, function: Callable[[Host], Host], width: int) -> None:
        super().__init__((base.shape[0], width), base.dtype)
        self._base = base
        self._function = function
        self._taken: tuple[bytes, Host] | None = None

    def runs(self, of_run: Callable[[Host], Part]) -> Iterator[Part]:
        """Yield `of_run` of each mapped run."""
        return self._base.runs(partial(_one_after_the_other, self._function, of_run))

    def fold(self, of_run: Callable[[Host], Part]) -> Part:
        """Fold where the rows are."""
        return self._base.fold(partial(_unit_by_unit, self._function, of_run))

    def take(self, positions: Host, through: Callable[[Host], Host] | None = None) -> Host:
        """Map the blocks that the rows are in; the last rows taken are kept for the next call."""
        key = np.asarray(positions).tobytes()
        if through is not None:
            composed = partial(_one_after_the_other, self._function, through)
            return self._base.take(positions, composed)
        taken = self._taken  # several threads may ask for rows of their own
        if taken is None or taken[0] != key:
            self._taken = taken = key, self._base.take(positions, self._function)
        return taken[1].copy()

    def finished(self) -> Any:
        """Return all rows, as whoever gave the table wants them."""
        return self._base.finished_through(self._function, self.shape[1])


class BlockRows(LazyRows):
    """Some whole blocks of other lazy rows, by number, as a table of their own."""

    def __init__(self, base: LazyRows, blocks: Host) -> None:
        super().__init__((blocks.size * ROW_BLOCK, base.shape[1]), base.dtype)
        self._base = base
        self._blocks = blocks
        self._at_once = run_length(base.shape[1] * base.dtype.itemsize) // ROW_BLOCK

    def runs(self, of_run: Callable[[Host], Part]) -> Iterator[Part]:
        """Yield `of_run` of as many blocks at once as make a run."""
        inside = np.arange(ROW_BLOCK)

        def read_and_work(first: int) -> Part:
            some = self._blocks[first : first + self._at_once, None] * ROW_BLOCK + inside
            return of_run(self._base.take(some.ravel()))

        starts = range(0, self._blocks.size, self._at_once)
        return ordered_map(read_and_work, starts, threads=min(thread_count(), len(starts)))

    def take(self, positions: Host, through: Callable[[Host], Host] | None = None) -> Host:
        """Take rows of the other table; blocks are whole in both."""
        blocks, inside = np.divmod(positions, ROW_BLOCK)
        return self._base.take(self._blocks[blocks] * ROW_BLOCK + inside, through)


def _as_they_are(rows: Host) -> Host:
    return rows


def _one_after_the_other(
    first: Callable[[Host], Host], then: Callable[[Host], Part], rows: Host
) -> Part:
    return then(first(rows))


def _unit_by_unit(first: Callable[[Host], Host], then: Callable[[Host], Part], rows: Host) -> Part:
    """Fold what `first` makes of a unit while it is in cache; units are nodes of the tree."""
    units = (rows[start : start + UNIT] for start in range(0, rows.shape[0], UNIT))
    return tree_sum(then(first(unit)) for unit in units)
