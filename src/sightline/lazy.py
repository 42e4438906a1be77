"""Rows that are not in memory: read in runs of whole blocks, worked on, and let go.

`fold_rows`, `map_rows` and `take_rows` take them in place of an array, so that every solver runs
on them as it is. Runs begin at multiples of `UNIT` rows, which every block of rows divides, and
their results are added in one binary tree over the blocks: the bits are those of an array in
memory, however long the runs are and wherever they are worked on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from operator import add
from typing import Any, TypeAlias, TypeVar

import numpy as np

from sightline._arrays import Namespace, check_finite, namespace
from sightline._threads import one_blas_thread, ordered_map, thread_count

ROW_BLOCK = 512
"""Rows of a block: its scores for a few hundred starts stay in the second-level cache."""

UNIT = 4096
"""Runs begin at a multiple of this many rows; sizes of blocks divide it."""

_RUN_BYTES = 2**24
"""A run is the most rows, a power of two times `UNIT`, that take no more than this."""

_DENSE = 4
"""A run is read whole where one of this many of its blocks is wanted, else block by block."""

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
        return self._base.fold(partial(_one_after_the_other, self._function, of_run))

    def take(self, positions: Host, through: Callable[[Host], Host] | None = None) -> Host:
        """Map the blocks that the rows are in; the last rows taken are kept for the next call."""
        key = np.asarray(positions).tobytes()
        if through is not None:
            composed = partial(_one_after_the_other, self._function, through)
            return self._base.take(positions, composed)
        if self._taken is None or self._taken[0] != key:
            self._taken = key, self._base.take(positions, self._function)
        return self._taken[1].copy()


class StoredRows(LazyRows):
    """Rows of a file or a store that can be read from any row on.

    Parameters
    ----------
    read : maps (start, stop) to those rows; called from several threads.
    shape, dtype : of the store.
    name : for messages.
    columns : names of the columns, or None.
    chunked : whether reading one row takes the store as long as reading many.

    Every block is looked through for NaN and infinity when it is first read.
    """

    def __init__(
        self,
        read: Callable[[int, int], Host],
        shape: tuple[int, int],
        dtype: Any,
        *,
        name: str = "X",
        columns: Any = None,
        chunked: bool = False,
    ) -> None:
        kind = np.dtype(dtype)
        narrow = kind.kind == "f" and kind.itemsize <= 4
        super().__init__(shape, np.float32 if narrow else np.float64, columns)
        self.run_rows = run_length(shape[1] * self.dtype.itemsize)
        self._read = read
        self._name = name
        self._chunked = chunked
        self._checked = np.zeros(-(-shape[0] // ROW_BLOCK), dtype=bool)

    def read(self, start: int, stop: int) -> Host:
        """Return some rows, which begin with a block, as finite numbers in order."""
        with np.errstate(over="ignore"):  # becomes infinity, which is reported with its place
            rows = np.ascontiguousarray(self._read(start, stop), dtype=self.dtype)
        blocks = slice(start // ROW_BLOCK, -(-stop // ROW_BLOCK))
        if not self._checked[blocks].all():
            check_finite(rows, self._name, self.columns, first_row=start)
            self._checked[blocks] = True
        return rows

    def runs(self, of_run: Callable[[Host], Part]) -> Iterator[Part]:
        """Read and work on several threads, each with a run of its own."""

        def read_and_work(start: int) -> Part:
            return of_run(self.read(start, min(start + self.run_rows, self.shape[0])))

        starts = range(0, self.shape[0], self.run_rows)
        return ordered_map(read_and_work, starts, threads=min(thread_count(), len(starts)))

    def take(self, positions: Host, through: Callable[[Host], Host] | None = None) -> Host:
        """Read the runs or blocks that the rows are in."""
        order = np.argsort(positions, kind="stable")
        wanted = np.asarray(positions)[order]
        if not wanted.size:
            return _processed(self.read(0, min(ROW_BLOCK, self.shape[0])), through)[:0]
        hit = np.unique(wanted // self.run_rows) * self.run_rows
        bounds = np.searchsorted(wanted, hit)
        shares = zip(hit, np.split(wanted, bounds[1:]), strict=True)

        def of_run(share: tuple[int, Host]) -> Host:
            start = int(share[0])
            stop = min(start + self.run_rows, self.shape[0])
            return pick_rows(self.read, start, stop, share[1], through, whole=self._chunked)

        parts = list(ordered_map(of_run, shares, threads=min(thread_count(), hit.size)))
        taken = np.concatenate(parts)
        ordered = np.empty_like(taken)
        ordered[order] = taken
        return ordered


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
        with one_blas_thread():
            for first in range(0, self._blocks.size, self._at_once):
                some = self._blocks[first : first + self._at_once, None] * ROW_BLOCK + inside
                yield of_run(self._base.take(some.ravel()))

    def take(self, positions: Host, through: Callable[[Host], Host] | None = None) -> Host:
        """Take rows of the other table; blocks are whole in both."""
        blocks, inside = np.divmod(positions, ROW_BLOCK)
        return self._base.take(self._blocks[blocks] * ROW_BLOCK + inside, through)


def pick_rows(
    read: Callable[[int, int], Host],
    start: int,
    stop: int,
    wanted: Host,
    through: Callable[[Host], Host] | None,
    *,
    whole: bool,
) -> Host:
    """Return the rows at sorted positions from `start` to `stop`, read as whole blocks."""
    blocks = np.unique(wanted // ROW_BLOCK) * ROW_BLOCK
    if whole or _DENSE * blocks.size * ROW_BLOCK >= stop - start:
        rows: Host = _processed(read(start, stop), through)[wanted - start]
        return rows
    shares = np.split(wanted, np.searchsorted(wanted, blocks)[1:])
    parts = [
        _processed(read(int(block), min(int(block) + ROW_BLOCK, stop)), through)[share - block]
        for block, share in zip(blocks, shares, strict=True)
    ]
    return np.concatenate(parts)


def _processed(rows: Host, through: Callable[[Host], Host] | None) -> Host:
    return rows if through is None else through(rows)


def _as_they_are(rows: Host) -> Host:
    return rows


def _one_after_the_other(
    first: Callable[[Host], Host], then: Callable[[Host], Part], rows: Host
) -> Part:
    return then(first(rows))
