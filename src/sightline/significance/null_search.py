"""P-values after a search: the whole search again on tables without structure.

The best of many directions looks good on any table. What it says is seen beside what the same
search finds on tables that have the mean and the covariance of X and are Gaussian otherwise
(`rotation`): with B of them,

    p_j = (1 + #{i : best of search i >= value_j}) / (1 + B).

Under Gaussian rows, of any mean and covariance, the p-value of the largest value is exactly
uniform on 1/(B+1), 2/(B+1), ..., 1. All others are held against the best of a search too, so
P(any p_j <= alpha) <= alpha: they are conservative.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from sightline._arrays import Array, as_table, to_numpy
from sightline._options import as_generator, check_count
from sightline._threads import one_blas_thread
from sightline.rows import row_blocks
from sightline.significance.rotation import RotatedRows, rotated_rows

Search = Callable[[Array, np.random.Generator], Any]
"""Maps rows (n, d) and a source of randomness to what it finds: values, of which more is more."""

_TASKS_AT_ONCE = 4
"""Searches that a process does between two reports of progress."""

_SAME_MEAN = 1e-3
"""Distance of two means of a column, in standard deviations, up to which they are one."""

_ROUNDING = 8
"""Epsilons of a mean that its way into another dtype and back may cost."""


@dataclass(frozen=True, slots=True)
class NullPValues:
    """What a search found beside what it finds where there is nothing.

    Attributes
    ----------
    p_values : (k,) of each value; that of the largest is exact, the others are conservative.
    values : (k,) what the search found on the table.
    null_best : (n_null,) the largest value of each search on a table without structure.
    """

    p_values: np.ndarray
    values: np.ndarray
    null_best: np.ndarray

    @property
    def text(self) -> str:
        """A line on the null and one for each value."""
        low, middle, high = np.quantile(self.null_best, (0, 0.5, 1))
        lines = [
            f"{self.null_best.size} searches of Gaussian tables with the same mean and covariance "
            f"found values from {low:.4g} to {high:.4g}, median {middle:.4g}."
        ]
        for j, (value, p) in enumerate(zip(self.values, self.p_values, strict=True), start=1):
            reached = int(np.count_nonzero(self.null_best >= value))
            note = "" if value == self.values.max() else " (conservative)"
            lines.append(
                f"direction {j}: {value:.4g}, reached by {reached} of them: p = {p:.3g}{note}"
            )
        return "\n".join(lines)


def null_p_values(
    search: Any,
    X: Any,
    values: Any = None,
    *,
    n_null: int = 99,
    random_state: Any = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> NullPValues:
    """Repeat a search on Gaussian tables that are like `X`, and return p-values of what it found.

    Parameters
    ----------
    search : a fitted estimator that has `search_again` (as `ProjectionPursuit` has), or a function
        `search(rows, rng)` that returns the value it finds, or several; more is more. All that was
        chosen by looking at the rows, whitening included, has to happen inside it.
    X : (n, d) the table that was searched.
    values : (k,) what was found on it; None takes those of the estimator, or runs the function.
    n_null : how many tables; no p-value is below 1 / (1 + n_null).
    random_state : int, Generator or None. Table i depends neither on `n_null` nor on `n_jobs`.
    n_jobs : processes, one BLAS thread each; -1 is one a core. None or 1 stays in this process,
        where the search uses all threads.
    progress : called with how many of the `n_null` are done.
    """
    count = check_count("n_null", n_null)
    jobs = n_jobs if n_jobs is None or n_jobs == -1 else check_count("n_jobs", n_jobs)
    X = as_table(X, minimum_rows=2)
    like_x = rotated_rows(X)
    root = np.random.SeedSequence(as_generator(random_state).integers(2**63, size=4).tolist())
    again = getattr(search, "search_again", search)
    if not callable(again):
        raise TypeError(
            f"search={search!r} must be a function search(rows, rng) that returns what it finds, "
            "or an estimator that has search_again, such as ProjectionPursuit."
        )
    if values is None and again is not search:
        values = _fitted_values(search, like_x)
    elif values is None:
        values = again(X, np.random.default_rng(root))
    found = _finite(values, "on X")

    null_best = np.empty(count)
    for i, best in enumerate(_searches(again, like_x, root, count, jobs)):
        null_best[i] = best
        if progress is not None:
            progress(i + 1, count)
    reached = np.count_nonzero(null_best[None, :] >= found[:, None], axis=1)
    return NullPValues((1 + reached) / (1 + count), found, null_best)


def _searches(
    search: Search, like_x: RotatedRows, root: np.random.SeedSequence, count: int, jobs: int | None
) -> Iterator[float]:
    """Yield the best of each search in its order."""
    seeds = root.spawn(count)  # a child is the same however many are spawned after it
    if jobs is None or jobs == 1:
        yield from (_best_of_null(search, like_x, seed) for seed in seeds)
        return
    at_once = _TASKS_AT_ONCE * (jobs if jobs > 0 else os.cpu_count() or 1)
    with Parallel(n_jobs=jobs, backend="loky") as processes:
        for block in row_blocks(count, at_once):
            tasks = (delayed(_best_of_null_alone)(search, like_x, seed) for seed in seeds[block])
            yield from processes(tasks)


def _best_of_null_alone(
    search: Search, like_x: RotatedRows, seed: np.random.SeedSequence
) -> float:
    """Search one null with one BLAS thread: the processes share the cores."""
    with one_blas_thread():
        return _best_of_null(search, like_x, seed)


def _best_of_null(search: Search, like_x: RotatedRows, seed: np.random.SeedSequence) -> float:
    rng = np.random.default_rng(seed)
    with warnings.catch_warnings():  # what there is to say was said of X itself
        warnings.simplefilter("ignore")
        found = search(like_x.draw(rng), rng)
    return float(_finite(found, "on a table without structure").max())


def _finite(values: Any, where: str) -> np.ndarray:
    """Return what a search found as a finite (k,) array, k at least 1."""
    found = np.atleast_1d(to_numpy(values)).astype(np.float64)
    if found.ndim != 1 or found.size == 0 or not np.isfinite(found).all():
        raise ValueError(
            f"the search returned {values!r} {where}; it must return a finite number, or a list "
            "of them."
        )
    return found


def _fitted_values(estimator: Any, like_x: RotatedRows) -> Any:
    """Return what a fitted estimator found, if it was fitted on the rows at hand."""
    check_is_fitted(estimator)
    theirs = to_numpy(estimator.mean_)
    if theirs.shape == like_x.mean.shape:
        rounding = _ROUNDING * float(np.finfo(theirs.dtype).eps) * np.abs(like_x.mean)
        gap = np.maximum(np.abs(theirs.astype(np.float64) - like_x.mean) - rounding, 0.0)
        deviation = np.sqrt(np.sum(like_x.factor**2, axis=0) / like_x.count)
        if np.all(np.ldexp(gap, -like_x.exponents) <= _SAME_MEAN * deviation):
            return estimator.standard_values_
    raise ValueError(
        "X is not the table that the estimator was fitted on: their means differ. Fit it on X, or "
        "give values= with what was found on X."
    )
