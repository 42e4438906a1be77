"""Values on a whole table, and slopes on rows drawn from it, from one product for both.

    T = X U^T,      values = sum_rows psi(T),      pulls = X_D^T diag(times) phi'(T_D).

T_D are the scores of the distinct rows D that were drawn: kept as the blocks of the table pass by,
so that a step on a batch needs one more product in place of two, and fewer rows of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from sightline._arrays import Array, is_lazy, is_numpy, take_rows
from sightline.indices import Index
from sightline.kernels import Partial
from sightline.kernels.buffers import give, take
from sightline.kernels.host import HostStep
from sightline.rows import fold_blocks, row_blocks

Host = np.ndarray[Any, np.dtype[Any]]

_COUNTED = 16
"""Rows of a table for each row drawn up to which counting all of them is faster than sorting."""


@dataclass(slots=True, eq=False)
class DrawnRows:
    """Some rows of a table on the host, any of them any number of times.

    Attributes
    ----------
    of : (n, d) the table.
    positions : (b,) where in the table the rows are.
    distinct : (k,) the same in ascending order, each once.
    times : (k,) how often each was drawn, in the dtype of the rows.
    ndim, shape : those of the rows, (b, d).
    """

    of: Array
    positions: Host
    distinct: Host = field(init=False)
    times: Host = field(init=False)
    ndim: int = field(init=False, default=2)
    shape: tuple[int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.shape = self.positions.size, self.of.shape[1]
        n, (b, _) = self.of.shape[0], self.shape
        if n <= _COUNTED * b:
            counts = np.bincount(self.positions, minlength=n)
            self.distinct = np.flatnonzero(counts)
            times = counts[self.distinct]
        else:
            self.distinct, times = np.unique(self.positions, return_counts=True)
        self.times = times.astype(self.of.dtype)

    def inside(self, block: slice) -> slice:
        """Return which of the distinct rows are in a block of the table."""
        first, end = np.searchsorted(self.distinct, (block.start, block.stop))
        return slice(first, end)


def draw(X: Array, positions: Host) -> Array | DrawnRows:
    """Return rows of `X` by position; those on the host know where they are from."""
    return DrawnRows(X, positions) if is_numpy(X) or is_lazy(X) else take_rows(X, positions)


def is_drawn(batch: Array | DrawnRows) -> bool:
    """Say whether a batch knows the table that it is from, which was looked through as a whole."""
    return hasattr(batch, "of")


def are_drawn_from(batch: Array | DrawnRows | None, X: Array) -> bool:
    """Say whether a batch is known to be some rows of `X`."""
    return getattr(batch, "of", None) is X


def as_array(batch: Array | DrawnRows) -> Array:
    """Return the rows themselves, in the order in which they were drawn."""
    return take_rows(batch.of, batch.positions) if isinstance(batch, DrawnRows) else batch


def drawn_sums(psi: Index | None, phi: Index, directions: Array, batch: DrawnRows) -> Partial:
    """Return psi's sums over all rows of the batch's table, and phi's pulls over the batch.

    There are no values without psi. On lazy rows there are none at all: they would take a reading
    of their own, which other iterates may share.
    """
    X, m = batch.of, directions.shape[0]
    step = HostStep(psi, None, directions, X.dtype)
    values = memory = None
    if is_lazy(X):
        both = X.take(batch.distinct, partial(_with_scores, step))
        rows = both[:, : X.shape[1]].astype(X.dtype, copy=False)
        scores = both[:, X.shape[1] :]
    else:
        memory = take((batch.shape[0], m), step.dtype)
        rows, scores = None, memory[: batch.distinct.size]

        def keeping(block: slice) -> Partial:
            inside = batch.inside(block)
            return step(X[block], (batch.distinct[inside] - block.start, scores[inside]))

        values = fold_blocks(keeping, X, width=m, merge=Partial.absorb).values
    climb = HostStep(None, phi, directions, X.dtype)

    def pulling(block: slice) -> Partial:
        drawn = X[batch.distinct[block]] if rows is None else rows[block]
        return climb.of_scores(drawn * batch.times[block, None], scores[block])

    pulls = fold_blocks(pulling, scores, width=m, merge=Partial.absorb).pulls
    if memory is not None:
        give(memory)
    return Partial(batch.shape[0], values, pulls)


def _with_scores(step: HostStep, rows: Host) -> Host:
    """Return whole blocks of rows and their scores side by side."""
    scores = [step.scores(rows[block]) for block in row_blocks(rows.shape[0])]
    return np.concatenate((rows, np.concatenate(scores)), axis=1)
