"""The results in the repository are what their figure makes of their rows today."""

import json
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from sightline.experiments import FIGURES
from sightline.experiments.figure import digest_of

HOME = Path(__file__).parents[2] / "docs" / "results"

FOLDERS = sorted(path.parent for path in HOME.glob("*/results.parquet"))

committed = pytest.mark.parametrize("folder", FOLDERS, ids=[path.name for path in FOLDERS])


def read(folder):
    table = pq.read_table(folder / "results.parquet")
    settings = json.loads(table.schema.metadata[b"sightline.settings"])
    return table.to_pylist(), settings, FIGURES[settings["figure"]]


@committed
def test_rows_are_of_the_grid_that_there_is(folder):
    rows, settings, figure = read(folder)
    cells = figure.cells[settings["scale"]]
    assert settings["grid"] == digest_of(list(cells))
    names = list(cells[0])
    found = list(dict.fromkeys(tuple(row[name] for name in names) for row in rows))
    assert found == [tuple(cell.values()) for cell in cells]


@committed
def test_summary_and_findings_follow_from_the_rows(folder, tmp_path):
    rows, _, figure = read(folder)
    summary = figure.summarise(rows)
    written = pyarrow.csv.read_csv(folder / "summary.csv").to_pylist()
    assert len(written) == len(summary)
    for ours, theirs in zip(summary, written, strict=True):
        numbers = {k: v for k, v in ours.items() if isinstance(v, float)}
        assert {k: theirs[k] for k in numbers} == pytest.approx(numbers)
    report = (folder / "REPORT.md").read_text()
    answers = {True: "**held**", False: "**did not hold**", None: "**open**"}
    for finding in figure.judge(summary):
        assert f"| {finding.claim} | {answers[finding.held]} | {finding.evidence} |" in report


@committed
def test_the_report_says_where_the_results_are_from(folder):
    _, settings, _ = read(folder)
    report = (folder / "REPORT.md").read_text()
    for words in (
        f"sightline reproduce {settings['figure']} --scale {settings['scale']}",
        f"Seed {settings['seed']}.",
        "Hardware: ",
        f"numpy {settings['versions']['numpy']}",
    ):
        assert words in report
    assert (folder / "figure.png").exists()
