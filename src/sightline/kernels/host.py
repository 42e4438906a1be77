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
    """

    def __init__(self, psi: Index | None, phi: Index | None, directions: Host, dtype: Any) -> None:
        self.psi, self.phi, self.together = psi, phi, psi is phi or psi == phi
        self.dtype = np.result_type(directions, dtype)
        self.transposed = np.ascontiguousarray(directions.T, dtype=self.dtype)
        starts = directions.shape[0]
        pieces = max(1, -(-starts // _START_BLOCK))
        self.starts = list(row_blocks(starts, -(-starts // pieces)))

    def __call__(self, rows: Host, kept: tuple[Host, Host] | None = None) -> Partial:
        """Return the sums over `rows` (b, d); `kept` is which scores to keep, and where (k, m)."""
        d, m = self.transposed.shape
        values = None if self.psi is None else np.empty((self.psi.n_features, m))
        pulls = None if self.phi is None else take((self.phi.n_features, d, m), self.dtype)
        for some in self.starts:
            scores = self._scores(rows, some)
            if kept is not None:
                np.take(scores, kept[0], axis=0, out=kept[1][:, some], mode="clip")
            slope = None
            if self.phi is not None:
                slope = take((self.phi.n_features, *scores.shape), self.dtype)
                if self.psi is None or not self.together:
                    self.phi.write(scores, None, slope)
            if self.psi is not None and values is not None:
                spare = take((self.psi.n_features, *scores.shape), self.dtype)
                values[:, some] = self.psi.sums(scores, spare, slope if self.together else None)
                give(spare)
            give(scores)
            if slope is not None and pulls is not None:
                _pull(rows, slope, pulls[:, :, some])
        return Partial(rows.shape[0], values, pulls)

    def scores(self, rows: Host) -> Host:
        """Return the scores (b, m) of a block of rows, to the bits that the sums are made of."""
        parts = [self._scores(rows, some) for some in self.starts]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def of_scores(self, rows: Host, scores: Host) -> Partial:
        """Return the sums of slopes over rows (b, d) whose scores (b, m) are known."""
        phi = self.phi
        if phi is None:
            raise ValueError("slopes were not asked for")
        pulls = take((phi.n_features, *self.transposed.shape), self.dtype)
        for some in self.starts:
            slope = take((phi.n_features, rows.shape[0], some.stop - some.start), self.dtype)
            phi.write(scores[:, some], None, slope)
            _pull(rows, slope, pulls[:, :, some])
        return Partial(rows.shape[0], None, pulls)

    def _scores(self, rows: Host, some: slice) -> Host:
        directions = self.transposed[:, some]
        out = take((rows.shape[0], directions.shape[1]), self.dtype)
        scores: Host = np.matmul(rows, directions, out=out)
        return scores


def _pull(rows: Host, slope: Host, pulls: Host) -> None:
    """Write X_b^T S of each feature, and let the slopes go."""
    for pull, weights in zip(pulls, slope, strict=True):
        np.matmul(rows.T, weights, out=pull)
    give(slope)
