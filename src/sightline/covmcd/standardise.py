"""Classical standardising: rows with mean 0 and covariance I, and the way back to the columns.

    X = centre + (Z M) 2^e,        mean Z = 0,        Z^T Z / n = I

Distances between rows of Z are Mahalanobis distances of X, so that whatever is done to Z by
distances and rotations is affine equivariant in X.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.covmcd.univariate_mcd import ZERO_SPREAD, Floats
from sightline.sphere import normalise

_NAMED = 10
"""Columns that a message names before it breaks off."""


@dataclass(frozen=True, slots=True)
class Standardised:
    """Rows Z (n, d); centre (d,), mixing M (d, d) and exponents e (d,) lead back to X."""

    rows: Floats
    centre: Floats
    mixing: Floats
    exponents: NDArray[np.int32]

    def directions(self, standardised: Floats, smallest: float) -> Floats:
        """Return unit rows a (k, d) whose scores X a are those of Z w, but for shift and scale.

        A part below `smallest`, the least normal number of the dtype to come, would be lost.
        """
        loadings = np.linalg.solve(self.mixing, standardised.T).T
        in_columns: Floats = normalise(np.ldexp(loadings, self.exponents.min() - self.exponents))
        lost = np.any((loadings != 0.0) & (np.abs(in_columns) < smallest), axis=0)
        if lost.any():
            raise ValueError(
                f"X has column(s) so large beside others, {_named(lost)}, that their part in a "
                f"unit direction is below the least number held, {smallest:.0e}; rescale the "
                "columns, for instance with sklearn.preprocessing.StandardScaler."
            )
        return in_columns

    def location(self, standardised: Floats) -> Floats:
        """Return the point of X's space that a point of Z's stands for, (d,)."""
        point: Floats = self.centre + np.ldexp(standardised @ self.mixing, self.exponents)
        return point

    def covariance(self, standardised: Floats, smallest: float, largest: float) -> Floats:
        """Return the covariance of X's columns that one of Z's stands for, (d, d).

        A variance outside `smallest` to `largest`, the normal numbers of the dtype to come, would
        be lost, unless it is zero because the rows lie on a hyperplane.
        """
        mixed = self.mixing.T @ standardised @ self.mixing
        with np.errstate(over="ignore"):
            covariance: Floats = np.ldexp(mixed, self.exponents + self.exponents[:, None])
        variances = np.diagonal(covariance)
        flat = np.diagonal(mixed) <= ZERO_SPREAD**2 * np.sum(self.mixing**2, axis=0)
        lost = (variances > largest) | ((variances < smallest) & ~flat)
        if lost.any():
            raise ValueError(
                f"X has column(s) {_named(lost)} whose variance is outside what is held, "
                f"{smallest:.0e} to {largest:.0e}; rescale the columns, for instance with "
                "sklearn.preprocessing.StandardScaler."
            )
        return (covariance + covariance.T) / 2.0


def standardise(X: Floats, precision: float) -> Standardised:
    """Return the rows of X (n, d) with mean 0 and covariance I; `precision` is X's own rounding.

    Columns are scaled by powers of two, which is exact, centred twice, and made orthogonal by QR,
    so that neither a scale of 1e-300 or 1e300 nor an offset of 1e8 costs what X still has.
    """
    n_rows, n_columns = X.shape
    if n_rows <= n_columns:
        raise ValueError(
            f"X has {n_rows} row(s) and {n_columns} column(s); PPcovMCD needs more rows than "
            "columns. Add rows, drop columns, or reduce them first, for instance with "
            f"sklearn.decomposition.PCA(n_components=k), k well below {n_rows}."
        )
    _refuse("constant", X.max(axis=0) == X.min(axis=0))
    magnitudes = np.frexp(np.abs(X).max(axis=0))[1]
    rows = np.ldexp(X, -magnitudes)
    centre = rows.mean(axis=0)
    rows -= centre
    remainder = rows.mean(axis=0)
    rows -= remainder
    deviations = np.sqrt(np.mean(rows**2, axis=0))
    rounding = n_columns * precision * (10.0 + 1.0 / deviations)
    _refuse("constant but for rounding", rounding >= 1.0)
    basis, triangle = np.linalg.qr(rows / deviations)
    triangle /= np.sqrt(n_rows)
    _refuse("linear combinations of earlier ones", np.abs(np.diagonal(triangle)) <= rounding)
    return Standardised(
        rows=basis * np.sqrt(n_rows),
        centre=np.ldexp(centre + remainder, magnitudes),
        mixing=triangle * deviations,
        exponents=magnitudes,
    )


def _refuse(complaint: str, columns: NDArray[np.bool_]) -> None:
    """Raise a ValueError that names the marked columns, if there are any."""
    if not columns.any():
        return
    raise ValueError(
        f"X has {np.count_nonzero(columns)} column(s) that are {complaint}: {_named(columns)}. "
        "PPcovMCD needs a covariance of full rank; drop those columns, or reduce X first, for "
        "instance with sklearn.decomposition.PCA."
    )


def _named(columns: NDArray[np.bool_]) -> str:
    """Return the positions of the marked columns, the first ten by number."""
    marked = np.flatnonzero(columns)
    more = f" and {marked.size - _NAMED} more" if marked.size > _NAMED else ""
    return ", ".join(str(column) for column in marked[:_NAMED]) + more
