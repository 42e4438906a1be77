"""Files of a command: each is written beside its place and moved there when it is complete."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet

from sightline.cli.findings import Finding, Host
from sightline.cli.options import FILES
from sightline.cli.reading import Rows
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


def score_table(table: Table, scores: Host, findings: Sequence[Finding] = ()) -> Any:
    """Return an Arrow table: row, label where there is one, and a score a direction.

    `row` is the position in the source, so that rows dropped for missing values leave gaps. With
    findings, `small_side_k` says whether the row is on the small side of direction k.
    """
    columns: dict[str, Any] = {"row": pa.array(table.rows)}
    if table.labels is not None:
        texts = [None if label is None else str(label) for label in table.labels.tolist()]
        columns["label"] = pa.array(texts, pa.string())
    for place in range(scores.shape[1]):
        columns[f"direction_{place + 1}"] = pa.array(np.ascontiguousarray(scores[:, place]))
    for place, finding in enumerate(findings):
        columns[f"small_side_{place + 1}"] = pa.array(finding.on_small_side(scores[:, place]))
    return pa.table(columns)


def write_tables(tables: Iterable[Any], target: Path | BinaryIO) -> int:
    """Write Arrow tables one after the other and return how many rows there were.

    The end of the name says the format; a stream gets CSV.
    """
    suffix = target.suffix.lower() if isinstance(target, Path) else ".csv"
    rows, writer = 0, None
    try:
        for table in tables:
            if writer is None:
                writer = _WRITERS.get(suffix, pa.parquet.ParquetWriter)(target, table.schema)
            writer.write_table(table)
            rows += table.num_rows
    finally:
        if writer is not None:
            writer.close()
    return rows


_WRITERS: dict[str, Callable[..., Any]] = {
    ".csv": pa.csv.CSVWriter,
    ".arrow": pa.ipc.new_file,
    ".feather": pa.ipc.new_file,
}
"""By the end of the name; everything else is Parquet."""


class Results:
    """What is written of a search; the small sides are counted as the scores of all rows are.

    Attributes
    ----------
    rows : what was searched.
    search : the fitted estimator and p-values.
    findings : what is said of each direction.
    """

    def __init__(self, rows: Rows, search: Search, findings: list[Finding]) -> None:
        self.rows = rows
        self.search = search
        self.findings = findings

    def write(self, folder: Path, finished: list[Path]) -> None:
        """Write one file after the other, and note each as it is complete."""
        writers = {
            "model.sightline": self._model,
            "scores.parquet": self._scores,
            "directions.parquet": self._directions,
            "report.html": self._report,
        }
        for name in FILES:
            path = write_whole(folder / name, writers[name])
            finished.append(path)

    def _model(self, path: Path) -> None:
        named = copy.copy(self.search.estimator)
        named.feature_names_in_ = np.array(self.rows.table.columns, dtype=object)
        save_model(named, path)

    def _scores(self, path: Path) -> None:
        sizes = np.zeros(len(self.findings), dtype=np.int64)

        def counted() -> Iterator[Any]:
            for block in self.rows.blocks():
                scores = self.search.estimator.transform(block.values)
                table = score_table(block, scores, self.findings)
                for place in range(sizes.size):
                    sizes[place] += pa.compute.sum(table[f"small_side_{place + 1}"]).as_py()
                yield table

        total = write_tables(counted(), path)
        self.findings = [
            replace(finding, small_side=int(size), n_rows=total)
            for finding, size in zip(self.findings, sizes, strict=True)
        ]

    def _directions(self, path: Path) -> None:
        write_tables([pa.Table.from_pylist([one.as_row() for one in self.findings])], path)

    def _report(self, path: Path) -> None:
        table = self.rows.table
        write_report(
            path,
            estimator=self.search.estimator,
            X=table.values,
            column_names=table.columns,
            labels=table.labels,
            row_ids=table.row_names,
            p_values=self.search.p_values,
            title=f"{table.name}: directions worth looking at",
            note=self.rows.note,
        )
