"""The step on NumPy blocks: no temporary, both products in the layout that BLAS is fastest in.

    T = X_b U^T  (b, m),      S = phi'(T)  (b, m),      pulls = X_b^T S  (d, m).

U^T is laid out once a call. Scores, slopes and sums lie in memory that is used again (`buffers`),
and the index writes its slopes there (`Index.write`) and sums its values (`Index.sums`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sightline.indices import Index
from sightline.kernels.buffers import Host, give, take
from sightline.kernels.partial_sums import Partial
from sightline.kernels.step import Step
from sightline.rows import row_blocks

_START_BLOCK = 512
"""Starts whose scores on a block of rows are held at once, so that they stay in cache."""


class HostStep(Step):
    """One step in all `directions` (m, d) on any number of blocks, from any thread.

    `psi` is the index whose values are summed and `phi` that whose slopes are; None is neither.
    A `rough` step multiplies in float32, whatever the dtype of the rows.
    """

    def __init__(
        self,
        psi: Index | None,
        phi: Index | None,
        directions: Host,
        dtype: Any,
        *,
        rough: bool = False,
    ) -> None:
        self.psi, self.phi, self.together = psi, phi, psi is phi or psi == phi
        self.dtype = np.dtype(np.float32) if rough else np.result_type(directions, dtype)
        self.transposed = np.ascontiguousarray(directions.T, dtype=self.dtype)
        starts = directions.shape[0]
        pieces = max(1, -(-starts // _START_BLOCK))
        self.starts = list(row_blocks(starts, -(-starts // pieces)))

    def __call__(self, rows: Host, kept: tuple[Host, Host] | None = None) -> Partial:
        """Return the sums over `rows` (b, d); `kept` is which scores to keep, and where (k, m)."""
        rounded = None
        if rows.dtype.itemsize > self.dtype.itemsize:
            rounded = take(rows.shape, self.dtype)
            np.copyto(rounded, rows, casting="same_kind")
            rows = rounded
        d, m = self.transposed.shape
        values = None if self.psi is None else np.empty((self.psi.n_features, m))
        pulls = None if self.phi is None else take((self.phi.n_features, d, m), self.dtype)
        for some in self.starts:
            memory, scores, spare, slope = self._memory(rows.shape[0], some)
            np.matmul(rows, self.transposed[:, some], out=scores)
            if kept is not None:
                np.take(scores, kept[0], axis=0, out=kept[1][:, some], mode="clip")
            if self.phi is not None and not (self.psi is not None and self.together):
                self.phi.write(scores, None, slope)
            if self.psi is not None and values is not None:
                shared = self.together and pulls is not None
                values[:, some] = self.psi.sums(scores, spare, slope if shared else None)
            if pulls is not None:
                _pull(rows, slope, pulls[:, :, some])
            give(memory)
        if rounded is not None:
            give(rounded)
        return Partial(rows.shape[0], values, pulls)

    def scores(self, rows: Host) -> Host:
        """Return the scores (b, m) of a block of rows, to the bits that the sums are made of."""
        out = np.empty((rows.shape[0], self.transposed.shape[1]), self.dtype)
        for some in self.starts:
            memory, scores, _, _ = self._memory(rows.shape[0], some)
            out[:, some] = np.matmul(rows, self.transposed[:, some], out=scores)
            give(memory)
        return out

    def of_scores(self, rows: Host, scores: Host) -> Partial:
        """Return the sums of slopes over rows (b, d) whose scores (b, m) are known."""
        if self.phi is None:
            raise ValueError("slopes were not asked for")
        pulls = take((self.phi.n_features, *self.transposed.shape), self.dtype)
        for some in self.starts:
            memory, _, _, slope = self._memory(rows.shape[0], some)
            self.phi.write(scores[:, some], None, slope)
            _pull(rows, slope, pulls[:, :, some])
            give(memory)
        return Partial(rows.shape[0], None, pulls)

    def _memory(self, b: int, some: slice) -> tuple[Host, Host, Host, Host]:
        """Return memory, and the places in it of scores (b, w), spare values and slopes.

        What is not written to is never touched, so that it costs nothing.
        """
        values = 0 if self.psi is None else self.psi.n_features
        slopes = 0 if self.phi is None else self.phi.n_features
        memory = take((1 + values + slopes, b, some.stop - some.start), self.dtype)
        return memory, memory[0], memory[1 : 1 + values], memory[1 + values :]


def _pull(rows: Host, slope: Host, pulls: Host) -> None:
    """Write X_b^T S of each feature."""
    for pull, weights in zip(pulls, slope, strict=True):
        np.matmul(rows.T, weights, out=pull)
