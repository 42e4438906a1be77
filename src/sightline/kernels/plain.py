"""The step in the words of the array API: any library, any device, one block of rows.

    T = X_b U^T,      values = sum_rows phi(T),      pulls = X_b^T phi'(T).

This is what the other kernels are compared with.
"""

from __future__ import annotations

from sightline._arrays import Array, namespace, wide_dtype
from sightline.indices import Index
from sightline.indices.contract import with_feature_axis
from sightline.kernels.partial_sums import Partial
from sightline.kernels.step import Step
from sightline.rows import sum_rows


def block_sums(
    psi: Index | None, phi: Index | None, directions: Array, rows: Array
) -> tuple[Array | None, Array | None]:
    """Return the sums of psi's values (f, m) and of phi's pulls (f, d, m), in the wide dtype."""
    xp = namespace(directions, rows)
    scores = rows @ directions.T
    value = slope = None
    if psi is not None and phi is not None and (psi is phi or psi == phi):
        value, slope = phi.value_slope(scores, xp)
    else:
        value = None if psi is None else psi.value(scores, xp)
        slope = None if phi is None else phi.slope(scores, xp)
    if psi is not None:
        value = sum_rows(with_feature_axis(psi, value, scores))
    if phi is not None:
        slope = with_feature_axis(phi, slope, scores)
        slope = xp.astype(xp.matmul(rows.T, slope), wide_dtype(rows))
    return value, slope


class PlainStep(Step):
    """The step in some directions (m, d), for arrays of any library."""

    def __init__(self, psi: Index | None, phi: Index | None, directions: Array) -> None:
        self.psi, self.phi, self.directions = psi, phi, directions

    def __call__(self, rows: Array) -> Partial:
        """Return the sums over one block of rows (b, d)."""
        return Partial(rows.shape[0], *block_sums(self.psi, self.phi, self.directions, rows))
