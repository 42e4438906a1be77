"""The step on NumPy blocks: no temporary, both products in the layout that BLAS is fastest in.

    T = X_b U^T  (b, m),      S = phi'(T)  (b, m),      pulls = X_b^T S  (d, m).

U^T is laid out once a call. Scores, slopes and sums lie in memory that is used again (`buffers`),
and the index writes its values and slopes there (`Index.write`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sightline.indices import Index
from sightline.kernels.buffers import Host, give, take
from sightline.kernels.partial_sums import Partial
from sightline.kernels.step import Step
from sightline.rows import row_blocks, sum_rows

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

    def __call__(self, rows: Host) -> Partial:
        """Return the sums over `rows` (b, d)."""
        d, m = self.transposed.shape
        values = None if self.psi is None else np.empty((self.psi.n_features, m))
        pulls = None if self.phi is None else take((self.phi.n_features, d, m), self.dtype)
        for some in self.starts:
            self._some_starts(rows, some, values, pulls)
        return Partial(rows.shape[0], values, pulls)

    def _some_starts(
        self, rows: Host, some: slice, values: Host | None, pulls: Host | None
    ) -> None:
        directions = self.transposed[:, some]
        b, w = rows.shape[0], directions.shape[1]
        scores = np.matmul(rows, directions, out=take((b, w), self.dtype))
        value = None if values is None else take((values.shape[0], b, w), self.dtype)
        slope = None if pulls is None else take((pulls.shape[0], b, w), self.dtype)
        if self.phi is not None:
            self.phi.write(scores, value if self.together else None, slope)
        if self.psi is not None and not self.together:
            self.psi.write(scores, value, None)
        if values is not None and value is not None:
            values[:, some] = sum_rows(value)
        if pulls is not None and slope is not None:
            for pull, weights in zip(pulls, slope, strict=True):
                np.matmul(rows.T, weights, out=pull[:, some])
        for used in (scores, value, slope):
            if used is not None:
                give(used)
