"""The search of `sightline find`: which rows to look at, the fit, p-values."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import ceil, log2
from typing import TYPE_CHECKING, Any, TypeAlias

import click
import numpy as np
from sklearn.base import clone

from sightline.cli.console import bar
from sightline.estimators import ProjectionPursuit
from sightline.resuming import resumable
from sightline.significance import null_p_values
from sightline.sources import DataError, Table
from sightline.split import split_in_two

if TYPE_CHECKING:
    from rich.console import Console

Host: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_MOST_COLUMNS = 4000
"""Columns that a covariance matrix is made of in reasonable time and memory."""

_MANY_ROWS, _FEW_STARTS, _FEW_STEPS = 10_000, 128, 6
"""So many rows say where a direction is: more starts than this, or more steps (times log2 of the
columns), would only take more time."""

_DIRECTIONS = 3
"""How many are looked for unless the user says."""


_FEWEST_ROWS = 4
"""Fewer rows part in two in so few ways that every direction looks alike."""

_ROWS_A_DIRECTION = 10
"""Rows for each direction that is looked for unasked: the choice of whitening may keep as few axes
as a tenth of the rows."""


GROUPS = "groups"
"""The index of a user who names none: groups, small or large, by as few searches as will do."""

_GROUPS = ("relu2", "absmax")
"""What it tries: a small group far out, and where it sees none clearly, balanced groups too."""

_SMALL = 0.1
"""Part of the rows up to which a clear group is small enough for the first to be the right one."""

_BALANCED = 1 / 3
"""Part of the rows from which a clear group is as large as those that the second looks for."""


@dataclass(frozen=True)
class Search:
    """A fitted estimator, and p-values (k,) of its directions where they were asked for."""

    estimator: Any
    p_values: Host | None


def search_table(table: Table, options: dict[str, Any], console: Console) -> Search:
    """Fit on the rows, or on some of them."""
    values = _drawn(table.values, options["sample"], options["seed"], console)
    _check_size(table.name, *values.shape)
    most = options["rank"] or values.shape[1]
    few = max(1, values.shape[0] // _ROWS_A_DIRECTION)
    wanted = options["directions"] or min(_DIRECTIONS, most, few)
    if wanted > most:
        raise click.UsageError(f"--directions {wanted} is more than the {most} that there are.")
    # One after the other, each found one projected out: neighbours of the best direction show the
    # same rows again.
    many = values.shape[0] >= _MANY_ROWS
    estimator = ProjectionPursuit(
        n_components=wanted,
        rank=options["rank"],
        whiten=options["whiten"],
        n_starts=options["starts"] or (_FEW_STARTS if many else None),
        n_steps=ceil(_FEW_STEPS * max(1.0, log2(most))) if many else None,
        multiple="deflate",
        random_state=options["seed"],
    )
    groups = options["index"] == GROUPS
    estimator = _fitted(estimator, _GROUPS[0] if groups else options["index"], values, console)
    share = _clear_share(estimator, values) if groups else None
    if groups and (share is None or share > _SMALL):
        other = _fitted(estimator, _GROUPS[1], values, console)
        # Of as many clear directions the index is taken whose subject the first group is.
        balanced = share is not None and share > _BALANCED
        first_wins = (other, estimator) if balanced else (estimator, other)
        estimator = max(first_wins, key=lambda fitted: np.count_nonzero(fitted.clear_))
    p_values = None
    if options["significance"]:
        p_values = _p_values(estimator, values, options["seed"], console)
        # Which index is told about was chosen by what it found: either could have been.
        p_values = np.minimum(1.0, len(_GROUPS) * p_values) if groups else p_values
    return Search(estimator, p_values)


def _clear_share(estimator: Any, values: Host) -> float | None:
    """Return the part of the rows on the small side of the first direction, if it is clear."""
    if not estimator.clear_[0]:
        return None
    split = split_in_two(np.asarray(estimator.transform(values))[:, 0])
    return split.size / split.small.size


def _fitted(estimator: Any, index: str, values: Host, console: Console) -> Any:
    """Return the estimator with another index, fitted, and say what it warns of."""
    estimator = clone(estimator).set_params(index=index)
    with (
        bar(console, "Searching, climb after climb") as progress,
        resumable(progress=progress and (lambda step, of: progress(step / of))),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.simplefilter("always")
        estimator.fit(values)
    for warning in caught:
        console.print(str(warning.message), markup=False)
    return estimator


def _drawn(values: Host, most: int, seed: int, console: Console) -> Host:
    """Return all rows, or `most` of them drawn at random."""
    if values.shape[0] <= most:
        return values
    console.print(f"Searching on {most} rows drawn at random (--sample); all rows are scored.")
    drawn = np.random.default_rng(seed).choice(values.shape[0], most, replace=False)
    return np.asarray(values[np.sort(drawn)])


def _check_size(name: str, rows: int, columns: int) -> None:
    if rows < _FEWEST_ROWS:
        raise DataError(
            f"{name} has {rows} row{'s' * (rows != 1)}; a search takes at least {_FEWEST_ROWS}, "
            "and sees little in fewer than ten for each column. Give it more rows."
        )
    if columns > _MOST_COLUMNS:
        raise DataError(
            f"the table has {columns} columns; the limit is {_MOST_COLUMNS}. Take fewer with "
            "--columns, or an array that has fewer with --array (such as obsm/X_pca)."
        )


def _p_values(estimator: Any, values: Host, seed: int, console: Console) -> Host:
    """Return how often the same search of Gaussian tables, whitening and all, finds as much."""
    with bar(console, "Searching tables without structure") as progress:
        found = null_p_values(
            estimator,
            values,
            random_state=seed,
            progress=None if progress is None else lambda done, of: progress(done / of),
        )
    return found.p_values
