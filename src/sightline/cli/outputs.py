"""Files of a command: each is written beside its place and moved there when it is complete."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet

from sightline.cli.findings import Finding, Host
from sightline.cli.options import FILES
from sightline.cli.search import Search
from sightline.models import save_model
from sightline.report import write_report
from sightline.sources import Table


def write_whole(path: Path, write: Callable[[Path], Any]) -> Path:
    """Let `write` make a file at another name, and move it to `path` when it is complete."""
    partial = path.with_name(f".{path.stem}.{os.getpid()}.part{path.suffix}")
    try:
        write(partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path


def score_table(table: Table, scores: Host, findings: list[Finding] | None = None) -> Any:
    """Return an Arrow table: row, label where there is one, and a score a direction.

    `row` is the position in the source, so that rows dropped for missing values leave gaps. With
    findings, `small_side_k` says whether the row is on the small side of direction k.
    """
    columns: dict[str, Any] = {"row": pa.array(table.rows)}
    if table.labels is not None:
        columns["label"] = label_array(table.labels)
    for place in range(scores.shape[1]):
        columns[f"direction_{place + 1}"] = pa.array(np.ascontiguousarray(scores[:, place]))
    for finding in findings or ():
        columns[f"small_side_{finding.direction}"] = pa.array(finding.split.small)
    return pa.table(columns)


def label_array(labels: Host) -> Any:
    """Return labels as an Arrow array of one kind: as text where they are of several."""
    try:
        return pa.array(labels.tolist())
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if label is None else str(label) for label in labels.tolist()])


def write_arrow(table: Any, path: Path) -> None:
    """Write an Arrow table in the format that the end of the name says."""
    if path.suffix == ".csv":
        pa.csv.write_csv(table, path)
    elif path.suffix in {".arrow", ".feather"}:
        pa.feather.write_feather(table, str(path), compression="uncompressed")
    else:
        pa.parquet.write_table(table, path)


@dataclass(frozen=True)
class Results:
    """What is written: a table, the search, and what it found."""

    table: Table
    search: Search
    findings: list[Finding]
    scores: Host

    def model(self, path: Path) -> None:
        """Write the estimator, with the names of the columns."""
        named = copy.copy(self.search.estimator)
        named.feature_names_in_ = np.array(self.table.columns, dtype=object)
        save_model(named, path)

    def directions(self, path: Path) -> None:
        """Write a row for each direction."""
        write_arrow(pa.Table.from_pylist([finding.as_row() for finding in self.findings]), path)

    def row_scores(self, path: Path) -> None:
        """Write a row for each row of the table."""
        write_arrow(score_table(self.table, self.scores, self.findings), path)

    def report(self, path: Path) -> None:
        """Write the page."""
        write_report(
            path,
            estimator=self.search.estimator,
            X=self.table.values,
            column_names=self.table.columns,
            labels=self.table.labels,
            row_ids=self.table.rows.tolist(),
            p_values=self.search.p_values,
            title=f"{self.table.name}: directions worth looking at",
        )

    def write(self, folder: Path, finished: list[Path]) -> None:
        """Write one file after the other, and note each as it is complete."""
        writers = (self.model, self.directions, self.row_scores, self.report)
        for name, writer in zip(FILES, writers, strict=True):
            finished.append(write_whole(folder / name, writer))
