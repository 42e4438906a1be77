"""Streaming centre and scatter: count, mean, sum of (x - mean)(x - mean)^T, block by block.

Two blocks merge by Chan, Golub and LeVeque's rule (1983, The American Statistician 37, 242-247),

    S = S_a + S_b + (n_a n_b / n) (mean_b - mean_a)(mean_b - mean_a)^T,

so neither a mean of squares nor its cancellation ever occurs: an offset of 1e8 costs nothing but
the digits that the data themselves have lost. Each column is held divided by a power of two near
its own spread, which is exact, so columns of scale 1e-200 and 1e200 live in one matrix.

A table of fewer rows than columns is smaller than that matrix and says as much: `Deviations` are
the rows themselves, centred and scaled, and their singular vectors are the principal axes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import linalg

from sightline._arrays import Array, like, namespace, to_numpy, wide_dtype
from sightline._threads import one_blas_thread
from sightline.rows import fold_rows, in_memory

Host: TypeAlias = np.ndarray[Any, np.dtype[Any]]

SCATTER_BLOCK = 4096
"""Rows of a block: few enough for its wide copy to be small, many enough for a fast product."""


@dataclass(frozen=True, slots=True)
class Scatter:
    """Centre and scatter of `count` rows, on the host in float64.

    Attributes
    ----------
    count : rows seen.
    mean : (d,) column means.
    exponents : (d,) integers e; columns are held divided by 2^e.
    scaled : (d, d) sum over rows of the centred, scaled columns' products.
    low, high : (d,) smallest and largest value of each column; equal where it is constant.
    """

    count: int
    mean: Host
    exponents: Host
    scaled: Host
    low: Host
    high: Host

    def __add__(self, other: Scatter) -> Scatter:
        """Merge the scatter of two sets of rows."""
        count = self.count + other.count
        exponents = np.maximum(self.exponents, other.exponents)
        gap = other.mean - self.mean
        exponents = np.maximum(exponents, _exponents(np.abs(gap)))
        scaled_gap = np.ldexp(gap, -exponents)
        share = other.count / count
        scaled = _rescaled(self.scaled, self.exponents - exponents)
        scaled += _rescaled(other.scaled, other.exponents - exponents)
        scaled += (self.count * share) * np.outer(scaled_gap, scaled_gap)
        return Scatter(
            count,
            self.mean + share * gap,
            exponents,
            scaled,
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )

    @property
    def constant(self) -> Host:
        """Mask (d,) of the columns in which every value is the same."""
        return np.asarray(self.low == self.high)

    def covariance(self, exponents: Host) -> Host:
        """Return the covariance (divisor n) of the columns divided by 2^exponents."""
        return _rescaled(self.scaled, self.exponents - exponents) / self.count

    def principal(self, exponents: Host, kept: Host, *, own_units: bool) -> Principal:
        """Return the axes of the columns `kept`, in units of their own spread or as they come."""
        covariance = self.covariance(exponents)[np.ix_(kept, kept)]
        spread = np.sqrt(np.diag(covariance)) if own_units else np.ones(int(kept.sum()))
        with one_blas_thread():
            variances, vectors = linalg.eigh(covariance / np.multiply.outer(spread, spread))
        return Principal(spread, np.maximum(variances[::-1], 0.0), vectors[:, ::-1])


@dataclass(frozen=True, slots=True)
class Deviations:
    """Centred rows of a table that has fewer rows than columns, on the host in float64.

    Attributes
    ----------
    count, mean, exponents, low, high : as of a `Scatter`.
    rows : (n, d) the centred rows, columns divided by 2^exponents.
    """

    count: int
    mean: Host
    exponents: Host
    rows: Host
    low: Host
    high: Host

    @property
    def constant(self) -> Host:
        """Mask (d,) of the columns in which every value is the same."""
        return np.asarray(self.low == self.high)

    def covariance(self, exponents: Host) -> Host:
        """Return the covariance (divisor n) of the columns divided by 2^exponents."""
        rows = np.ldexp(self.rows, self.exponents - exponents)
        with one_blas_thread():
            return np.asarray(rows.T @ rows / self.count)

    def principal(self, exponents: Host, kept: Host, *, own_units: bool) -> Principal:
        """Return the axes of the columns `kept` along which the rows differ; n - 1 at the most."""
        rows = np.ldexp(self.rows, self.exponents - exponents)[:, kept]
        spread = np.sqrt(np.mean(rows * rows, axis=0)) if own_units else np.ones(rows.shape[1])
        with one_blas_thread():
            _, lengths, vectors = linalg.svd(rows / spread, full_matrices=False)
        variances = lengths * lengths / self.count
        some = slice(int(np.count_nonzero(variances > rounding(kept) * variances[0])))
        return Principal(spread, variances[some], vectors[some].T)


@dataclass(frozen=True, slots=True)
class Principal:
    """Principal axes of some columns, each divided by its `spread` (d,).

    Attributes
    ----------
    variances : (k,) largest first. Where k < d, there is none along all other axes.
    vectors : (d, k) the axes, orthonormal.
    """

    spread: Host
    variances: Host
    vectors: Host


_LEAST_ROUNDING = 64
"""Epsilons of the largest variance that rounding can leave where there is none."""


def rounding(kept: Host) -> float:
    """Return what rounding can leave of the largest variance of the columns `kept` (d,)."""
    return max(int(kept.sum()), _LEAST_ROUNDING) * float(np.finfo(np.float64).eps)


def spread_of(X: Array) -> Scatter | Deviations:
    """Return centre and spread of the rows of `X`, in the smaller of its two forms."""
    n, d = X.shape
    return scatter_of(X) if n >= d else _deviations_of(in_memory(X))


def _deviations_of(X: Array) -> Deviations:
    centred = _Centred.of(X)
    rows = _host(centred.deviations)
    return Deviations(X.shape[0], centred.mean, centred.exponents, rows, centred.low, centred.high)


def scatter_of(X: Array) -> Scatter:
    """Return the centre and scatter of the rows of `X`, in one pass of fixed blocks."""
    return fold_rows(_block_scatter, X, width=X.shape[1], size=SCATTER_BLOCK)


def scale_columns(rows: Array, exponents: Host) -> Array:
    """Divide the columns of `rows` by 2^exponents, exactly."""
    return rows * like(np.ldexp(1.0, -exponents), rows)


def _block_scatter(rows: Array) -> Scatter:
    centred = _Centred.of(rows)
    scaled = _host(centred.deviations.T @ centred.deviations)
    return Scatter(
        rows.shape[0], centred.mean, centred.exponents, scaled, centred.low, centred.high
    )


@dataclass(frozen=True, slots=True)
class _Centred:
    """Rows less their mean, columns divided by 2^exponents, in the wide dtype."""

    deviations: Array
    mean: Host
    exponents: Host
    low: Host
    high: Host

    @classmethod
    def of(cls, rows: Array) -> _Centred:
        """Centre twice, so that the rounding of the first mean is gone."""
        xp = namespace(rows)
        wide = xp.astype(rows, wide_dtype(rows), copy=False)
        low, high = to_numpy(xp.min(wide, axis=0)), to_numpy(xp.max(wide, axis=0))
        limit = 1000 if xp.finfo(wide.dtype).bits == 64 else 120
        exponents = _exponents(np.maximum(np.abs(low), np.abs(high)), limit)
        deviations = scale_columns(wide, exponents)
        first = xp.mean(deviations, axis=0)
        deviations = deviations - first
        second = xp.mean(deviations, axis=0)
        deviations = deviations - second
        mean = np.ldexp(_host(first) + _host(second), exponents)
        shrunk = _exponents(_host(xp.max(xp.abs(deviations), axis=0)), limit)
        return cls(scale_columns(deviations, shrunk), mean, exponents + shrunk, low, high)


def _host(values: Array) -> Host:
    return to_numpy(values).astype(np.float64)


def _exponents(sizes: Host, limit: int = 1000) -> Host:
    """Return e with sizes < 2^e, kept where 2^-e can be held; 0 where the size is 0."""
    exponents = np.frexp(sizes)[1]
    return np.clip(np.where(sizes > 0, exponents, 0), -limit, limit).astype(np.int64)


def _rescaled(matrix: Host, steps: Host) -> Host:
    """Multiply entry (i, j) by 2^(steps_i + steps_j)."""
    return np.ldexp(np.ldexp(matrix, steps[:, None]), steps[None, :])
