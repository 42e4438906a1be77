"""The exact minimum covariance determinant of one column, in O(n log n).

Of all h of n numbers, those with the least variance lie side by side once sorted, so that the
n - h + 1 windows are all there is to look at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from sightline._options import check_count

Floats: TypeAlias = NDArray[np.float64]
"""Real numbers on the host."""


_BULK_DEVIATIONS = 2.0
"""The bulk reaches this many robust standard deviations from the robust mean."""

ZERO_SPREAD = 1e-11
"""A standard deviation that counts as zero: thirty times what rounding leaves of one in rows that
lie on a hyperplane, in units of the standard deviation of all rows."""

EXACT_REACH = 10.0 * ZERO_SPREAD
"""How far from a hyperplane a row may lie, in the same units, and be on it."""


@dataclass(frozen=True, slots=True)
class UnivariateMCD:
    """The h of n numbers with the least variance: mean, variance (over h) and positions (h,)."""

    location: float
    variance: float
    support: NDArray[np.intp]
    n_scores: int

    @property
    def exact_fit(self) -> bool:
        """Whether the h numbers are equal, for scores in standard units."""
        return self.variance <= ZERO_SPREAD**2

    @property
    def robust_variance(self) -> float:
        """The variance of all n numbers if the h are the innermost of a normal sample."""
        return self.variance * consistency_factor(self.support.size / self.n_scores)

    def bulk(self, scores: Floats) -> NDArray[np.bool_]:
        """Mark the scores that are among the h or within two robust deviations of their mean."""
        reach = max(_BULK_DEVIATIONS * np.sqrt(self.robust_variance), EXACT_REACH)
        inside: NDArray[np.bool_] = np.abs(scores - self.location) <= reach
        inside[self.support] = True
        return inside


def univariate_mcd(scores: Floats, bulk_size: int) -> UnivariateMCD:
    """Return the `bulk_size` of the n `scores` that have the least variance.

    `bulk_size` is h, from n / 2 (rounded up) to n. Of windows with equal variance the lowest is
    taken. Equal scores have variance 0 to the last bit.
    """
    n_scores = scores.shape[0]
    check_count("bulk_size", bulk_size, at_least=(n_scores + 1) // 2, at_most=n_scores)
    order = np.argsort(scores, kind="stable")
    ordered = scores[order]
    start = int(np.argmin(_window_variances(ordered, bulk_size)))
    window = ordered[start : start + bulk_size]
    middle = window[bulk_size // 2]
    offsets = window - middle
    return UnivariateMCD(
        location=float(middle + offsets.mean()),
        variance=float(offsets.var()),
        support=order[start : start + bulk_size],
        n_scores=n_scores,
    )


def _window_variances(ordered: Floats, bulk_size: int) -> Floats:
    """Return the variance of every window of `bulk_size` sorted scores, shape (n - h + 1,).

    Every window holds the h-th score. Sums run outwards from there, so that an outlier enters only
    the windows that it belongs to, and nothing large is ever added and then taken away again.
    """
    n_scores = ordered.shape[0]
    middle = bulk_size - 1
    offsets = ordered - ordered[middle]
    starts = np.arange(n_scores - bulk_size + 1)

    def window_sums(values: Floats) -> Floats:
        below = np.append(np.cumsum(values[:middle][::-1])[::-1], 0.0)
        above = np.cumsum(values[middle:])
        inside: Floats = below[np.minimum(starts, middle)] + above[starts]
        return inside

    means = window_sums(offsets) / bulk_size
    variances: Floats = window_sums(offsets**2) / bulk_size - means**2
    if 2 * bulk_size == n_scores:  # the one window that lacks the h-th score
        variances[-1] = ordered[bulk_size:].var()
    return variances


def consistency_factor(fraction: float, dimension: int = 1) -> float:
    """Return f / P(chi2_{d+2} <= q), q the f-quantile of chi2_d.

    The covariance of the innermost fraction f of a normal sample times this factor estimates the
    covariance of the whole (Croux and Haesbroeck, 1999).
    """
    if fraction >= 1.0:
        return 1.0
    quantile = chi2.ppf(fraction, dimension)
    return float(fraction / chi2.cdf(quantile, dimension + 2))
