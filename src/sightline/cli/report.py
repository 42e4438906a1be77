"""`sightline report`: the page for a saved model and any rows."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import click

from sightline.cli.console import messages, working
from sightline.cli.options import check_target, common_options, data_options, stem
from sightline.cli.transform import check_width, load_and_match

_DRAWN = 100_000
"""Rows of a table larger than memory that the page draws from."""

_EXAMPLE = """\b
Example:
  sightline report model.sightline measurements.csv --label-column species
"""


@click.command(epilog=_EXAMPLE, short_help="Write the page for the rows of DATA.")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data")
@data_options
@click.option("--title", help="Of the page; the name of the data otherwise.")
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write.  [default: NAME-report.html, after the data]",
)
@click.option("--force", is_flag=True, help="Overwrite the file.")
@common_options
def report(
    *,
    model: Path,
    data: str,
    title: str | None,
    output: Path | None,
    force: bool,
    **options: Any,
) -> None:
    """Write a page that shows the rows of DATA along the directions of MODEL.

    It is one HTML file that needs no network.
    """
    path = Path(f"{stem(data)}-report.html") if output is None else output
    check_target(path, force=force)
    console = messages(quiet=options["quiet"])
    with working(console, "Loading libraries"):
        from sightline.cli.reading import read_rows
        from sightline.report import write_report
    estimator, request = load_and_match(model, options)
    rows = read_rows(data, request, sample=_DRAWN, seed=0, console=console)
    table = rows.table
    check_width(table, estimator)
    with working(console, "Writing"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        write_report(
            path,
            estimator=estimator,
            X=table.values,
            column_names=table.columns,
            labels=table.labels,
            row_ids=table.row_names,
            title=title or f"{table.name}: directions worth looking at",
            note=rows.note,
        )
    click.echo(path)
