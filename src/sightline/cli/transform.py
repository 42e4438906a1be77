"""`sightline transform`: the scores of other rows along the directions of a saved model."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sightline.cli.console import messages, working
from sightline.cli.options import check_unwritten, common_options, data_options, make_request

if TYPE_CHECKING:
    from rich.console import Console

    from sightline.sources import Table

_EXAMPLE = """\b
Examples:
  sightline transform measurements-sightline/model.sightline more.csv > scores.csv
  sightline transform model.sightline more.parquet --output scores.parquet
"""


@click.command(epilog=_EXAMPLE)
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("data")
@data_options
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="File to write: .parquet, .arrow or .csv. CSV on standard output otherwise.",
)
@click.option("--force", is_flag=True, help="Overwrite the file.")
@common_options
def transform(*, model: Path, data: str, output: Path | None, force: bool, **options: Any) -> None:
    """Score the rows of DATA along the directions of MODEL.

    DATA must have the columns that the model was made from; others are ignored.
    """
    if output is not None:
        check_unwritten(output, force=force)
    console = messages(quiet=options["quiet"])
    estimator, table = load_and_read(model, data, options, console)
    with working(console, "Scoring"):
        from sightline.cli.outputs import score_table, write_arrow, write_whole

        scores = score_table(table, scores_of(estimator, table))
    if output is not None:
        write_whole(output, lambda path: write_arrow(scores, path))
        console.print(f"Wrote {scores.num_rows} rows to {output}.", markup=False)
        return
    import pyarrow.csv

    pyarrow.csv.write_csv(scores, sys.stdout.buffer)


def load_and_read(
    model: Path, data: str, options: dict[str, Any], console: Console
) -> tuple[Any, Table]:
    """Return a saved model and the rows of the columns that it was made from."""
    with working(console, "Reading"):
        from sightline.models import load_model
        from sightline.sources import DataError, NoInputError, read_table

        if not model.is_file():
            raise NoInputError(f"there is no model file {model}. Check the path.")
        estimator = load_model(model)
        names = getattr(estimator, "feature_names_in_", None)
        if names is not None and options["columns"]:
            raise click.UsageError("--columns has no use here: the model knows its columns.")
        if names is not None:
            options = {**options, "columns": tuple(names)}
        table = read_table(data, make_request(options))
        if table.values.shape[1] != estimator.n_features_in_:
            raise DataError(
                f"{table.name} has {table.values.shape[1]} columns of numbers; the model takes "
                f"{estimator.n_features_in_}. Name them with --columns."
            )
    for note in table.notes:
        console.print(note, markup=False)
    return estimator, table


def scores_of(estimator: Any, table: Table) -> Any:
    """Return the scores (n, k); the columns are in the model's order already."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return estimator.transform(table.values)
