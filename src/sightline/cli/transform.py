"""`sightline transform`: the scores of other rows along the directions of a saved model."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sightline.cli.console import messages, working
from sightline.cli.options import check_target, common_options, data_options, make_request

if TYPE_CHECKING:
    from rich.console import Console

    from sightline.sources import Request, Table

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
        check_target(output, force=force)
    console = messages(quiet=options["quiet"])
    with working(console, "Loading libraries"):
        from sightline.cli.outputs import score_table, write_tables, write_whole
    estimator, request = load_and_match(model, options)

    def scored() -> Iterator[Any]:
        for table in _tables(data, request, console):
            check_width(table, estimator)
            yield score_table(table, scores_of(estimator, table))

    with working(console, "Scoring"):
        if output is None:
            write_tables(scored(), sys.stdout.buffer)
            return
        counts: list[int] = []
        write_whole(output, lambda path: counts.append(write_tables(scored(), path)))
    console.print(f"Wrote {counts[0]} rows to {output}.", markup=False)


def _tables(data: str, request: Request, console: Console) -> Iterator[Table]:
    """Yield the rows in blocks, or as a whole where a median has to be known first."""
    from sightline.sources import read_table, table_blocks

    if request.missing != "median":
        yield from table_blocks(data, request)
        return
    table = read_table(data, request)
    for note in table.notes:
        console.print(note, markup=False)
    yield table


def load_and_match(model: Path, options: dict[str, Any]) -> tuple[Any, Request]:
    """Return a saved model, and a request for the columns that it was made from."""
    from sightline.models import load_model
    from sightline.sources import DataError, NoInputError

    if not model.is_file():
        raise NoInputError(f"there is no model file {model}. Check the path.")
    estimator = load_model(model)
    if not hasattr(estimator, "transform"):
        raise DataError(
            f"{model} holds a {type(estimator).__name__}, which has no directions to score along. "
            "Use sightline.load_model and its predict, or a model of `sightline find`."
        )
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return estimator, make_request(options)
    if options["columns"]:
        raise click.UsageError("--columns has no use here: the model knows its columns.")
    return estimator, make_request({**options, "columns": tuple(names)})


def check_width(table: Table, estimator: Any) -> None:
    """Raise where the table has more or fewer columns than the model takes."""
    from sightline.sources import DataError

    if len(table.columns) != estimator.n_features_in_:
        raise DataError(
            f"{table.name} has {len(table.columns)} columns of numbers; the model takes "
            f"{estimator.n_features_in_}. Name them with --columns."
        )


def scores_of(estimator: Any, table: Table) -> Any:
    """Return the scores (n, k); the columns are in the model's order already."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return estimator.transform(table.values)
