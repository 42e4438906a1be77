"""How far out rows are: deviations from the median, in robust standard deviations.

For scores t the deviation is |t - median| / s with s = 1.4826 times the median of |t - median|,
the standard deviation where the scores are normal. A row with deviations along directions that
were searched for, and others along the columns, is

    sqrt(root mean square along the directions * mean over the columns)

standard deviations out. The first factor sees rows that no column shows; but every table has some
of those by chance, along directions that were searched for, and the second tells them apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sightline._arrays import Array, to_numpy
from sightline.whitening import Whitening

Host = np.ndarray[Any, np.dtype[np.float64]]

_TO_NORMAL = 1.4826
"""The median absolute deviation of a normal law times this is its standard deviation."""

_CONCENTRATED = 1e-9
"""Scores whose robust spread is below this part of their standard deviation are more than half
ties: a column of mostly zeros. They are measured in standard deviations instead."""

_AUTOMATIC_REACH = 2.5
"""Robust deviations above the median from which a row counts as an outlier by itself: one to three
in a hundred rows of normal tables from 300 x 2 to 2000 x 50."""


@dataclass(frozen=True, slots=True)
class Deviations:
    """Medians and robust standard deviations (k,) of k columns of scores."""

    centre: Host
    spread: Host

    def of(self, scores: Host) -> Host:
        """Return |t - median| / s for scores (n, k); without spread every deviation is zero."""
        gaps = np.abs(scores - self.centre)
        deviations: Host = np.divide(
            gaps, self.spread, out=np.zeros_like(gaps), where=self.spread > 0
        )
        return deviations


def fit_deviations(scores: Host) -> Deviations:
    """Return the medians and robust standard deviations of the columns of `scores` (n, k)."""
    centre = np.median(scores, axis=0)
    robust = _TO_NORMAL * np.median(np.abs(scores - centre), axis=0)
    ordinary = scores.std(axis=0)
    return Deviations(centre, np.where(robust > _CONCENTRATED * ordinary, robust, ordinary))


@dataclass(frozen=True, slots=True)
class Outlyingness:
    """How far out rows are, as judged by the rows that it was fitted on.

    Attributes
    ----------
    whitening : of those rows.
    directions : (k, r) unit whitened directions.
    along_directions, along_columns : their deviations, and those of the columns that vary.
    """

    whitening: Whitening
    directions: Array
    along_directions: Deviations
    along_columns: Deviations

    def of(self, X: Array) -> Host:
        """Return how far out the rows of `X` (n, d) are, (n,), in robust standard deviations."""
        views, columns = _scores(X, self.whitening, self.directions)
        squares = self.along_directions.of(views) ** 2
        along_columns = self.along_columns.of(columns)
        far: Host = np.sqrt(np.sqrt(squares.mean(axis=1)) * along_columns.mean(axis=1))
        return far


def fit_outlyingness(X: Array, whitening: Whitening, directions: Array) -> Outlyingness:
    """Fit deviations along whitened `directions` (k, r) and columns to the rows `X` (n, d)."""
    views, columns = _scores(X, whitening, directions)
    return Outlyingness(whitening, directions, fit_deviations(views), fit_deviations(columns))


def _scores(X: Array, whitening: Whitening, directions: Array) -> tuple[Host, Host]:
    """Return scores along whitened directions, and columns that vary by powers of two of units."""
    views = to_numpy(whitening.apply(X)).astype(np.float64) @ to_numpy(directions).T
    varying = np.any(whitening.matrix != 0, axis=1)
    columns = to_numpy(X).astype(np.float64)[:, varying]
    exponents = whitening.exponents[varying]
    return views, np.ldexp(columns, -exponents) - np.ldexp(whitening.mean[varying], -exponents)


def automatic_threshold(values: Host) -> float:
    """Return the median plus 2.5 robust standard deviations of outlyingness `values` (n,)."""
    fitted = fit_deviations(values[:, None])
    return float(fitted.centre[0] + _AUTOMATIC_REACH * fitted.spread[0])
