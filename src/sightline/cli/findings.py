"""What `sightline find` says about each direction: value, small side, the columns that matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from sightline.cli.search import Search
from sightline.scatter import scatter_of
from sightline.sources import Table
from sightline.split import split_in_two
from sightline.views import main_columns, standard_weights

Host: TypeAlias = np.ndarray[Any, np.dtype[Any]]

MAIN_COLUMNS = 5
"""How many columns are named for a direction."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One direction.

    Attributes
    ----------
    direction : 1 for the best.
    index : name of the projection index that found it.
    value : its value.
    p_value : how often the search finds as much in Gaussian tables, or None if not asked for.
    clear : whether the scores are clearly of several modes.
    converged : whether another step would leave the direction where it is.
    threshold : where the scores part in two.
    above : whether the small side is the one above the threshold.
    small_side : how many rows are on it.
    n_rows : of how many.
    columns : (d,) names.
    weights : (d,) the direction, a unit vector in the columns' own units.
    standard_weights : (d,) what one standard deviation of each column adds to the score, in the
        score's.
    """

    direction: int
    index: str
    value: float
    p_value: float | None
    clear: bool
    converged: bool
    threshold: float
    above: bool
    small_side: int
    n_rows: int
    columns: tuple[str, ...]
    weights: Host
    standard_weights: Host

    @property
    def share(self) -> float:
        """The part of the rows that is on the small side."""
        return self.small_side / self.n_rows

    def on_small_side(self, scores: Host) -> Host:
        """Say for each score whether it is on the small side."""
        upper = scores.astype(np.float64) > self.threshold
        return upper if self.above else ~upper

    def main_columns(self) -> list[tuple[str, float]]:
        """Return the columns that matter most and their weights in standard units."""
        places = main_columns(self.standard_weights, MAIN_COLUMNS)
        return [(self.columns[place], float(self.standard_weights[place])) for place in places]

    def as_row(self) -> dict[str, Any]:
        """Return a row of `directions.parquet`."""
        return {
            "direction": self.direction,
            "index": self.index,
            "value": self.value,
            "p_value": self.p_value,
            "clear": self.clear,
            "converged": self.converged,
            "small_side": self.small_side,
            "small_side_above": self.above,
            "threshold": self.threshold,
            "columns": list(self.columns),
            "weights": self.weights.tolist(),
            "standard_weights": self.standard_weights.tolist(),
        }

    def as_json(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        row = self.as_row()
        for key in ("columns", "weights", "standard_weights"):
            del row[key]
        row["share"] = self.share
        row["main_columns"] = [
            {"column": column, "weight": weight} for column, weight in self.main_columns()
        ]
        return row


def describe(search: Search, table: Table) -> list[Finding]:
    """Return a finding for each direction that was found, from the rows in memory."""
    estimator, p_values = search.estimator, search.p_values
    weights = np.asarray(estimator.components_, dtype=np.float64)
    standard = standard_weights(weights, scatter_of(table.values))
    scores = np.asarray(estimator.transform(table.values))
    findings = []
    for place in range(weights.shape[0]):
        split = split_in_two(scores[:, place])
        findings.append(
            Finding(
                direction=place + 1,
                index=str(estimator.indices_[place]),
                value=float(estimator.index_values_[place]),
                p_value=None if p_values is None else float(p_values[place]),
                clear=bool(estimator.clear_[place]),
                converged=bool(estimator.converged_[place]),
                threshold=split.threshold,
                above=split.above,
                small_side=split.size,
                n_rows=split.small.size,
                columns=table.columns,
                weights=weights[place],
                standard_weights=standard[place],
            )
        )
    return findings
