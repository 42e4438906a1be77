"""Gaussian tables with exactly the mean and the covariance of a given one.

Write the centred rows as X_c = Q A with A^T A = X_c^T X_c, A a function of that product alone, and
orthonormal columns Q (n, r). If the rows are independent N(mu, Sigma), then X_c and O X_c have one
law for every rotation O of R^n that keeps the vector of ones. So Q is uniform on its frames and
independent of the mean and of A, whatever mu and Sigma are; with fresh uniform frames Q*,

    X* = mean + Q* A

draws from the law of the table given its sample mean and covariance (Langsrud 2005, Statistics
and Computing 15, 53-60). X, X*_1, X*_2, ... are exchangeable, and a statistic of X has a uniform
rank among theirs, however it whitens, searches and chooses. No covariance is assumed and none is
estimated.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from sightline._arrays import Array, like
from sightline._threads import one_blas_thread
from sightline.scatter import Host, rounding, spread_of


@dataclass(frozen=True, slots=True)
class RotatedRows:
    """What all tables with one mean and one covariance have in common.

    Attributes
    ----------
    count : n, rows of a table.
    mean : (d,) of its columns.
    exponents : (d,) columns are held divided by 2^exponents.
    factor : (r, d) A in the divided columns: A^T A is their scatter.
    reference : (1, d) a row of the original, for its library, device and dtype.
    """

    count: int
    mean: Host
    exponents: Host
    factor: Host
    reference: Array

    def draw(self, rng: np.random.Generator) -> Array:
        """Return one table (n, d); the same `rng` gives the same bits on any number of threads."""
        frame = rng.standard_normal((self.count, self.factor.shape[0]))
        frame -= frame.mean(axis=0)
        with one_blas_thread():
            frame, triangle = linalg.qr(frame, mode="economic", overwrite_a=True)
            # QR is unique up to signs; a positive diagonal makes the frame uniform.
            signs = np.copysign(1.0, np.diagonal(triangle))
            deviations = frame @ (signs[:, None] * self.factor)
        np.ldexp(deviations, self.exponents, out=deviations)
        deviations += self.mean
        return like(deviations, self.reference)


def rotated_rows(X: Array) -> RotatedRows:
    """Gather from the rows of `X` (n, d) what rotations of them share."""
    spread = spread_of(X)
    varying = ~spread.constant
    axes = spread.principal(spread.exponents, varying, own_units=True)
    rank = int(
        np.count_nonzero(axes.variances > rounding(varying) * axes.variances.max(initial=0))
    )
    kept = slice(min(rank, spread.count - 1))
    factor = np.zeros((axes.variances[kept].size, varying.size))
    lengths = np.sqrt(spread.count * axes.variances[kept])
    factor[:, varying] = lengths[:, None] * axes.vectors[:, kept].T * axes.spread
    return RotatedRows(spread.count, spread.mean, spread.exponents, factor, X[:1, :])
