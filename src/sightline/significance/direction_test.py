"""The paper's test Psi of one direction that was not chosen on the rows at hand.

Psi says "planted" where the mean of phi over the scores <x, u> reaches a threshold t, "Gaussian"
below it (paper, Corollary on testing; there phi = max(0, .)^2). For a u near enough to the planted
direction the two errors sum to exp(-Theta(n / d)).

Here the scores are standardised by their own mean and deviation. For rows N(mu, Sigma), any mu
and Sigma, the statistic then has the law of the same statistic of n standard normal draws, which
is simulated: the threshold is exact at every n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sightline._arrays import Array, as_table, namespace, to_numpy
from sightline._options import as_generator, check_count, check_number
from sightline._threads import one_blas_thread
from sightline.indices import Index, make_index
from sightline.rows import row_blocks

_DRAWS = 2**20
"""Normal draws held at once."""

_ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""Spread of scores, as a part of the largest term in them, that rounding alone can make."""


@dataclass(frozen=True, slots=True)
class DirectionTest:
    """Outcome of `planted_test`.

    Attributes
    ----------
    statistic : the index of the standardised scores.
    threshold : what it has to exceed.
    p_value : (1 + #{null >= statistic}) / (1 + n_null).
    rejected : whether the scores are more than Gaussian: the p-value is at most the level, the
        statistic above the threshold.
    level : how often Gaussian rows are rejected, at the most.
    """

    statistic: float
    threshold: float
    p_value: float
    rejected: bool
    level: float


def planted_test(
    X: Any,
    direction: Any,
    *,
    index: Any = "relu2",
    level: float = 0.05,
    n_null: int = 999,
    random_state: Any = None,
) -> DirectionTest:
    """Test whether the scores of `X` along a direction given beforehand are more than Gaussian.

    Parameters
    ----------
    X : (n, d) rows that had no part in finding the direction; at least 3.
    direction : (d,) in the space of the columns, of any length. "relu2" and "skewness" look at its
        positive side: turn it to where the small group lies.
    index : phi, by name or as an object.
    level : probability of rejecting Gaussian rows.
    n_null : how many null statistics are drawn.
    random_state : int, Generator or None.
    """
    phi = make_index(index)
    alpha = check_number("level", level, low=0, high=1, open_low=True, open_high=True)
    count = check_count("n_null", n_null)
    p_values = (1 + np.arange(count + 1)) / (1 + count)
    reached_at_most = int(np.count_nonzero(p_values <= alpha)) - 1
    if reached_at_most < 0:
        raise ValueError(
            f"level={level!r} is below the least p-value of n_null={n_null!r}, "
            f"{p_values[0]:.3g}; use n_null of at least {int(np.ceil(1 / alpha)) - 1}."
        )
    scores = _scores(as_table(X, minimum_rows=3), direction)
    statistic = float(standard_values(phi, scores[:, None])[0])
    null = np.sort(_null_statistics(phi, scores.size, count, as_generator(random_state)))
    p_value = float(p_values[np.count_nonzero(null >= statistic)])
    threshold = float(null[count - 1 - reached_at_most])
    return DirectionTest(statistic, threshold, p_value, p_value <= alpha, alpha)


def _scores(X: Array, direction: Any) -> np.ndarray:
    """Return the centred scores of all rows in some unit, on the host."""
    u = np.asarray(to_numpy(direction), dtype=np.float64)
    if u.shape != (X.shape[1],) or not np.isfinite(u).all() or not u.any():
        raise ValueError(
            f"direction has shape {u.shape}; it must be {X.shape[1]} finite numbers, one for each "
            "column of X, not all zero."
        )
    used = u != 0
    rows = to_numpy(X).astype(np.float64)[:, used]
    # Columns and weights enter in units of their own size: neither 1e-200 nor 1e200 is lost.
    mantissas, powers = np.frexp(u[used])
    _, sizes = np.frexp(np.abs(rows).max(axis=0))
    scaled = np.ldexp(rows, -sizes)
    weights = np.ldexp(mantissas, powers + sizes - (powers + sizes).max())
    with one_blas_thread():
        scores = (scaled - scaled.mean(axis=0)) @ weights
    scores -= scores.mean()
    if scores.std() <= _ROUNDING * np.abs(scaled * weights).max():
        raise ValueError(
            f"all {scores.size} rows of X have the same score along the direction; there is "
            "nothing to test."
        )
    return np.asarray(scores)


def _null_statistics(phi: Index, n: int, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return the statistic of `count` samples of n standard normals; sample i ignores `count`."""
    at_once = max(1, _DRAWS // n)
    null = np.empty(count)
    for block in row_blocks(count, at_once):
        draws = rng.standard_normal((block.stop - block.start, n))
        null[block] = standard_values(phi, draws.T)
    return null


def standard_values(index: Index, scores: np.ndarray) -> np.ndarray:
    """Return the index of each column of `scores` (n, m) at mean 0 and variance 1."""
    standard = np.asarray(scores, dtype=np.float64)
    standard = standard - standard.mean(axis=0)
    deviations = standard.std(axis=0)
    standard /= np.where(deviations > 0, deviations, 1.0)
    return np.asarray(index.value_of_sample(standard, namespace(standard)), dtype=np.float64)
