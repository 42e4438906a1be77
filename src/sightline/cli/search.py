"""The search of `sightline find`: which rows and axes to look at, the fit, p-values."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import click
import numpy as np

from sightline.cli.console import bar, working
from sightline.estimators import ProjectionPursuit
from sightline.significance import null_p_values
from sightline.sources import DataError, Table

if TYPE_CHECKING:
    from rich.console import Console

Host: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_MOST_COLUMNS = 4000
"""Columns that a covariance matrix is made of in reasonable time and memory."""

_ROWS_PER_AXIS = 5
"""With fewer rows than this for each column, only the leading principal axes are looked at: along
some direction any few rows look like groups."""

_DIRECTIONS = 3
"""How many are looked for unless the user says."""


@dataclass(frozen=True)
class Search:
    """A fitted estimator, and p-values (k,) of its directions where they were asked for."""

    estimator: Any
    p_values: Host | None


def search_table(table: Table, options: dict[str, Any], console: Console) -> Search:
    """Fit on the rows, or on some of them."""
    values = _drawn(table.values, options["sample"], options["seed"], console)
    rank = _rank(values, options["rank"], options["whiten"], console)
    most = rank or values.shape[1]
    wanted = options["directions"] or min(_DIRECTIONS, most)
    if wanted > most:
        raise click.UsageError(f"--directions {wanted} is more than the {most} that there are.")
    # One after the other, each found one projected out: neighbours of the best direction show the
    # same rows again.
    estimator = ProjectionPursuit(
        options["index"],
        n_components=wanted,
        rank=rank,
        whiten=options["whiten"],
        multiple="deflate",
        random_state=options["seed"],
    )
    with working(console, "Searching"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(values)
    for warning in caught:
        console.print(str(warning.message), markup=False)
    p_values = None
    if options["significance"]:
        p_values = _p_values(estimator, values, options["seed"], console)
    return Search(estimator, p_values)


def _drawn(values: Host, most: int, seed: int, console: Console) -> Host:
    """Return all rows, or `most` of them drawn at random."""
    if values.shape[0] <= most:
        return values
    console.print(f"Searching on {most} rows drawn at random (--sample); all rows are scored.")
    drawn = np.random.default_rng(seed).choice(values.shape[0], most, replace=False)
    return np.asarray(values[np.sort(drawn)])


def _rank(values: Host, asked: int | None, whiten: str, console: Console) -> int | None:
    """Return how many principal axes to look at; None is all."""
    rows, columns = int(values.shape[0]), int(values.shape[1])
    if columns > _MOST_COLUMNS:
        raise DataError(
            f"the table has {columns} columns; the limit is {_MOST_COLUMNS}. Take fewer with "
            "--columns, or an array that has fewer with --array (such as obsm/X_pca)."
        )
    if asked is not None or whiten != "exact" or rows >= _ROWS_PER_AXIS * columns:
        return asked
    rank = max(1, rows // _ROWS_PER_AXIS)
    console.print(
        f"Few rows for {columns} columns: looking at the {rank} leading principal axes (--rank)."
    )
    return rank


def _p_values(estimator: Any, values: Host, seed: int, console: Console) -> Host:
    """Return how often a search of Gaussian tables, whitening and all, finds as much."""

    def best_value(rows: Host, rng: np.random.Generator) -> Host:
        return np.asarray(estimator.search_again(rows, rng, n_components=1))

    with bar(console, "Searching tables without structure") as progress:
        found = null_p_values(
            best_value,
            values,
            estimator.standard_values_,
            random_state=seed,
            progress=None if progress is None else lambda done, of: progress(done / of),
        )
    return found.p_values
