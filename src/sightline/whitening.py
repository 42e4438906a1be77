"""Whitening: z = W^T (x - mean), with covariance I, and the exact way back to the input's columns.

A direction v of the whitened space is the column weights a = W v: both give the same scores. The
scatter is streamed (`scatter`), so any number of rows passes through one d x d matrix. Of fewer
rows than columns the axes are had from the rows, and those along which all rows are alike are left
out by every method: nothing can be seen there.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from sightline._arrays import Array, like, namespace, to_numpy, wide_dtype
from sightline._options import check_choice, check_count, check_number
from sightline.moments import squared_norms
from sightline.rows import fold_rows, map_rows
from sightline.scatter import Deviations, Host, Scatter, rounding, spread_of
from sightline.sphere import normalise

METHODS = ("exact", "shrunk", "none")


@dataclass(frozen=True, slots=True)
class Whitening:
    """An affine map from rows of the table to whitened rows.

    Attributes
    ----------
    mean : (d,) centre of the columns.
    exponents : (d,) columns are divided by 2^exponents before `matrix` is applied.
    matrix : (d, k) the rest of the map, all zeros in the rows of dropped columns.
    spectrum : (k,) variances of the principal axes that were kept, largest first, in the units
        in which they were ranked: each column's own spread, or (`rank`) the input's, scaled.
    method : "exact", "shrunk" or "none".
    shrinkage : the weight of the identity in the covariance; 0 where nothing was shrunk.
    """

    mean: Host
    exponents: Host
    matrix: Host
    spectrum: Host
    method: str
    shrinkage: float = 0.0

    @property
    def rank(self) -> int:
        """Columns of the whitened rows."""
        return int(self.matrix.shape[1])

    def apply(self, X: Array) -> Array:
        """Return the whitened rows (n, k), in the library, on the device, in the dtype of `X`."""
        return self._scores(X, self.matrix)

    def column_weights(self, directions: Array) -> Array:
        """Return unit rows (m, d) of column weights with the scores of whitened `directions`."""
        weights, _ = self._weights(directions)
        return like(weights, directions)

    def scores(self, X: Array, directions: Array) -> Array:
        """Return the scores <x - mean, a> of the unit column weights a of `directions`, (n, m).

        Computed in the scaled columns: right even where a weight is too small to be held.
        """
        _, length = self._weights(directions)
        combined = self.matrix @ to_numpy(directions).astype(np.float64).T
        return self._scores(X, combined, length)

    def directions(self, weights: Array) -> Array:
        """Return the unit whitened directions whose scores are those of column `weights` (m, d).

        Weights outside the column span of the map (dropped columns, truncated axes) are projected
        onto it: least squares in the scaled columns.
        """
        host = np.ldexp(to_numpy(weights).astype(np.float64), self.exponents)
        solved = linalg.lstsq(self.matrix, host.T)[0].T
        return like(normalise(solved), weights)

    def _weights(self, directions: Array) -> tuple[Host, Host]:
        """Return unit column weights and the lengths that they were divided by."""
        combined = (self.matrix @ to_numpy(directions).astype(np.float64).T).T
        smallest = int(self.exponents.min())
        scaled = np.ldexp(combined, smallest - self.exponents)
        unit = normalise(scaled)
        length = np.ldexp(np.sum(scaled * unit, axis=1), -smallest)
        return unit, length

    def _scores(self, X: Array, matrix: Host, length: Host | None = None) -> Array:
        xp, wide = namespace(X), wide_dtype(X)
        centre = like(np.ldexp(self.mean, -self.exponents), X, wide)
        map_matrix = like(matrix, X, wide)
        scale = like(np.ldexp(1.0, -self.exponents), X, wide)
        divisor = None if length is None else like(length, X, wide)

        def block_scores(rows: Array) -> Array:
            scaled = xp.astype(rows, wide)
            scaled *= scale
            scaled -= centre
            scores = scaled @ map_matrix
            return scores if divisor is None else scores / divisor

        return map_rows(block_scores, X, width=matrix.shape[1])


def fit_whitening(
    X: Array,
    method: str = "exact",
    *,
    rank: int | None = None,
    tolerance: float | None = None,
    shrinkage: float | None = None,
    columns: Any = None,
) -> Whitening:
    """Fit a whitening to the rows of `X`.

    Parameters
    ----------
    X : (n, d) table.
    method : "exact" makes the covariance I; "shrunk" does so for the covariance shrunk towards a
        multiple of I; "none" centres and divides everything by one number, the root mean
        variance, so that directions keep the input's geometry.
    rank : keep this many leading principal axes of the columns as they come (PCA truncation);
        None keeps the numerical rank of the columns in units of their own spread.
    tolerance : axes with a variance under `tolerance` times the largest are outside the numerical
        rank; None is max(d, 64) times the float64 epsilon, where the covariance holds no digits.
    shrinkage : weight of the identity for "shrunk", in [0, 1]; None is Ledoit and Wolf's.
    columns : names for messages.
    """
    check_choice("whiten", method, METHODS)
    if shrinkage is not None:
        if method != "shrunk":
            raise ValueError(f"shrinkage={shrinkage!r} goes with whiten='shrunk', not {method!r}.")
        shrinkage = check_number("shrinkage", shrinkage, low=0, high=1)
    spread = spread_of(X)
    kept = _varying_columns(spread, columns)
    axes = _principal_axes(spread, kept, own_units=method == "exact" and rank is None)
    if method == "exact" or rank is not None:
        axes = axes.leading(_rank(axes, kept, rank, tolerance, spread.count))

    weight = 0.0
    variances = axes.variances
    if method == "shrunk":
        weight = _ledoit_wolf(X, spread, axes) if shrinkage is None else shrinkage
        variances = (1 - weight) * variances + weight * axes.mean_variance
        if variances[-1] <= 0 or (weight == 0 and axes.size > variances.size):
            raise ValueError("shrinkage=0.0 leaves axes without variance; use whiten='exact'.")
    elif method == "none":
        variances = np.full_like(variances, axes.mean_variance)
    matrix = axes.loadings / np.sqrt(variances)
    if method == "none" and rank is None and variances.size == axes.size:
        matrix = _identity_like(axes.loadings, kept) / np.sqrt(variances)
    return Whitening(spread.mean, axes.exponents, matrix, axes.variances, method, weight)


@dataclass(frozen=True, slots=True)
class _Axes:
    """Principal axes: variances (k,) and loadings (d, k) on the columns divided by 2^exponents.

    There are `size` of them, of which those are left out along which all rows are alike.
    """

    exponents: Host
    variances: Host
    loadings: Host
    size: int

    @property
    def mean_variance(self) -> float:
        """Return the mean over all axes."""
        return float(self.variances.sum() / self.size)

    def leading(self, size: int) -> _Axes:
        return _Axes(self.exponents, self.variances[:size], self.loadings[:, :size], size)


def _varying_columns(scatter: Scatter | Deviations, columns: Any) -> Host:
    """Return the mask of columns that vary; name the others in a warning."""
    constant = np.flatnonzero(scatter.constant)
    if scatter.count < 2:
        raise ValueError("X has 1 row (n_samples = 1); a spread needs at least 2.")
    if constant.size == scatter.mean.size:
        raise ValueError(
            f"X has {scatter.count} rows that are all equal; no direction shows anything. "
            "Check how the table was read."
        )
    if constant.size:
        names = [repr(columns[i]) if columns is not None else str(i) for i in constant]
        shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
        warnings.warn(
            f"{len(names)} constant column(s) carry no information and get weight zero: {shown}.",
            UserWarning,
            stacklevel=3,
        )
    return np.asarray(~scatter.constant)


def _principal_axes(spread: Scatter | Deviations, kept: Host, *, own_units: bool) -> _Axes:
    """Return the axes of the columns in units of their own spread, or in one common unit."""
    exponents = spread.exponents
    if not own_units:
        exponents = np.full_like(exponents, exponents[kept].max())
    found = spread.principal(exponents, kept, own_units=own_units)
    loadings = np.zeros((kept.size, found.variances.size))
    loadings[kept] = _signed(found.vectors) / found.spread[:, None]
    return _Axes(exponents, found.variances, loadings, int(kept.sum()))


def _signed(vectors: Host) -> Host:
    """Make the largest entry of each column positive: eigenvectors have no sign of their own."""
    largest = np.abs(vectors).argmax(axis=0)
    return np.asarray(vectors * np.sign(vectors[largest, np.arange(vectors.shape[1])]))


def _identity_like(loadings: Host, kept: Host) -> Host:
    identity = np.zeros_like(loadings)
    identity[kept] = np.eye(loadings.shape[1])
    return identity


def _rank(axes: _Axes, kept: Host, rank: int | None, tolerance: float | None, n_rows: int) -> int:
    """Return how many axes to keep, or say why none of them would mean anything."""
    variances, floor = axes.variances, rounding(kept)
    if tolerance is not None:
        floor = check_number("tolerance", tolerance, low=0, high=1, open_high=True)
    numerical = int(np.count_nonzero(variances > floor * variances[0]))
    if rank is not None:
        wanted = check_count("rank", rank, at_most=axes.size)
        if wanted > min(numerical, n_rows - 2):
            raise ValueError(
                f"rank={wanted} is more than the {n_rows} rows support: their numerical rank is "
                f"{numerical}, and whitening needs at least 2 rows more than axes. "
                f"Use rank={max(1, min(numerical, n_rows - 2) // 2)} or less."
            )
        return wanted
    if numerical >= n_rows - 1 > 1:
        raise ValueError(
            f"X has n_samples = {n_rows} rows of numerical rank {numerical}: whitened, every "
            "direction would look alike. Use more rows or fewer columns, or, where there is such "
            f"an option, whiten='shrunk' or 'none', or a rank well under {n_rows}."
        )
    return numerical


def _ledoit_wolf(X: Array, spread: Scatter | Deviations, axes: _Axes) -> float:
    """Return Ledoit and Wolf's weight of the identity, from the scores z on the axes.

    With S the covariance and m I the multiple of the identity of the same trace, the weight is
    min(1, (mean_i |z_i z_i^T - S|^2 / n) / |S - m I|^2) in the Frobenius norm (2004, Journal of
    Multivariate Analysis 88, 365-411). On principal axes S is the diagonal of their variances.
    """
    unscaled = Whitening(spread.mean, axes.exponents, axes.loadings, axes.variances, "none")

    def fourth_powers(rows: Array) -> Array:
        squares = squared_norms(namespace(rows).astype(rows, wide_dtype(rows), copy=False))
        return squares @ squares

    scores, n = unscaled.apply(X), spread.count
    fourth = float(fold_rows(fourth_powers, scores, width=axes.variances.size)) / n
    variances = axes.variances
    mean = axes.mean_variance
    apart = float(np.sum((variances - mean) ** 2) + (axes.size - variances.size) * mean**2)
    noise = (fourth - float(np.sum(variances**2))) / n
    return min(1.0, noise / apart) if apart > 0 else 0.0
