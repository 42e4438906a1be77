"""`sightline find`: a table in, directions worth looking at out."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sightline.cli.console import bar, messages, results, working
from sightline.cli.options import (
    FILES,
    check_unwritten,
    common_options,
    data_options,
    make_request,
    stem,
)

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

    from sightline.cli.findings import Finding
    from sightline.sources import Table

_MOST_COLUMNS = 4000
"""Columns that a covariance matrix is made of in reasonable time and memory."""

_ROWS_PER_AXIS = 5
"""With fewer rows than this for each column, only the leading principal axes are looked at: along
some direction any few rows look like groups."""

_EXAMPLE = """\b
Examples:
  sightline find measurements.csv --label-column species
  sightline find cells.h5ad --array obsm/X_pca --directions 5
  zcat big.csv.gz | sightline find - --drop id,date --json
"""


@click.command(epilog=_EXAMPLE)
@click.argument("data")
@data_options
@click.option(
    "--index",
    default="relu2",
    show_default=True,
    help="What makes a direction interesting: relu2 (a small group far out), abs or kurtosis "
    "(sparse, heavy tails), absmax (balanced groups), and others.",
)
@click.option(
    "--directions",
    type=click.IntRange(min=1),
    help="How many to look for.  [default: 3, or fewer in a table of fewer columns]",
)
@click.option(
    "--rank",
    type=click.IntRange(min=1),
    help="Look only within this many leading principal axes.",
)
@click.option(
    "--whiten",
    type=click.Choice(["exact", "shrunk", "none"]),
    default="exact",
    show_default=True,
    help="How the spread of the data is evened out before searching.",
)
@click.option(
    "--sample",
    type=click.IntRange(min=2),
    default=100_000,
    show_default=True,
    help="Search on this many rows, drawn at random where there are more; all rows are scored.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write.  [default: NAME-sightline, after the data]",
)
@click.option("--force", is_flag=True, help="Overwrite the results of an earlier run.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@common_options
def find(*, data: str, output: Path | None, force: bool, as_json: bool, **options: Any) -> None:
    """Find directions of DATA that show hidden structure.

    DATA is a table: CSV (also .gz, .xz), Parquet, Arrow, .npy, .npz, Zarr, .h5ad, or - for
    standard input. Columns of numbers are used. The folder gets the directions, the scores of all
    rows along them, a model for `sightline transform`, and a page to look at.
    """
    folder = Path(f"{stem(data)}-sightline") if output is None else output
    for name in FILES:
        check_unwritten(folder / name, force=force)
    request = make_request(options)
    _check_index(options["index"])
    console = messages(quiet=options["quiet"])
    table = _read(data, request, console)
    folder.mkdir(parents=True, exist_ok=True)
    finished: list[Path] = []
    try:
        estimator = _search(table, options, console)
        with working(console, "Scoring all rows"):
            from sightline.cli.findings import describe

            scores = estimator.transform(table.values)
            findings = describe(estimator, options["index"], table, scores)
        with working(console, "Writing"):
            from sightline.cli.outputs import Results

            Results(table, estimator, findings, scores).write(folder, finished)
    except KeyboardInterrupt:
        if finished:
            console.print(f"Kept {', '.join(map(str, finished))}.", markup=False)
        raise
    finally:
        if not any(folder.iterdir()):
            folder.rmdir()
    if as_json:
        click.echo(json.dumps(_summary(table, findings, folder, options), indent=2))
    else:
        _tell(results(), findings, folder)


def _check_index(name: str) -> None:
    from sightline.indices import INDICES

    climbable = [known for known, kind in INDICES.items() if not kind.whole_sample]
    if name not in climbable:
        raise click.UsageError(f"--index {name} is unknown. Choose from {', '.join(climbable)}.")


def _read(data: str, request: Any, console: Console) -> Table:
    """Read the table; say what was left out and what was filled in."""
    with working(console, "Loading libraries"):
        from sightline.sources import read_table
    with bar(console, "Reading") as progress:
        table = read_table(data, request, progress=progress)
    rows, columns = table.values.shape
    console.print(f"Read {rows} rows, {columns} columns of numbers.", markup=False)
    for line in (table.left_out_line, *table.notes):
        if line:
            console.print(line, markup=False)
    return table


def _search(table: Table, options: dict[str, Any], console: Console) -> Any:
    """Fit on the rows, or on some of them, and return the estimator."""
    with working(console, "Searching"):
        import numpy as np

        from sightline.estimators import ProjectionPursuit

        values = table.values
        if values.shape[0] > options["sample"]:
            rng = np.random.default_rng(options["seed"])
            drawn = rng.choice(values.shape[0], options["sample"], replace=False, shuffle=False)
            values = values[np.sort(drawn)]
            console.print(f"Searching on {values.shape[0]} rows drawn at random (--sample).")
        rank = _rank(values, options["rank"], options["whiten"], console)
        most = rank or values.shape[1]
        wanted = options["directions"] or min(3, most)
        if wanted > most:
            raise click.UsageError(
                f"--directions {wanted} is more than the {most} that there are."
            )
        estimator = ProjectionPursuit(
            options["index"],
            n_components=wanted,
            rank=rank,
            whiten=options["whiten"],
            random_state=options["seed"],
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            estimator.fit(values)
    for warning in caught:
        console.print(str(warning.message), markup=False)
    return estimator


def _rank(values: np.ndarray, asked: int | None, whiten: str, console: Console) -> int | None:
    """Return how many principal axes to look at; None is all."""
    from sightline.sources import DataError

    rows, columns = int(values.shape[0]), int(values.shape[1])
    if columns > _MOST_COLUMNS:
        raise DataError(
            f"the table has {columns} columns; the limit is {_MOST_COLUMNS}. Take fewer with "
            "--columns, or an array that has fewer with --array (such as obsm/X_pca)."
        )
    if asked is not None or whiten != "exact":
        return asked
    if rows >= _ROWS_PER_AXIS * columns:
        return None
    rank = max(1, min(rows // _ROWS_PER_AXIS, columns))
    console.print(
        f"Few rows for {columns} columns: looking at the {rank} leading principal axes (--rank)."
    )
    return rank


def _summary(
    table: Table, findings: list[Finding], folder: Path, options: dict[str, Any]
) -> dict[str, Any]:
    rows, columns = table.values.shape
    return {
        "source": table.name,
        "rows": rows,
        "columns": columns,
        "left_out": dict(table.left_out),
        "notes": list(table.notes),
        "seed": options["seed"],
        "directions": [finding.as_json() for finding in findings],
        "files": {name: str(folder / name) for name in FILES},
    }


def _tell(console: Console, findings: list[Finding], folder: Path) -> None:
    """Print a line for each direction, and where to look next."""
    from rich.table import Table as Lines
    from rich.text import Text

    lines = Lines(box=None, pad_edge=False, header_style="bold")
    lines.add_column("direction", justify="right")
    lines.add_column("index")
    lines.add_column("value", justify="right")
    lines.add_column("small side", justify="right")
    lines.add_column("columns that matter most, by weight in standard units", overflow="fold")
    for finding in findings:
        main = ", ".join(f"{weight:+.2f} {column}" for column, weight in finding.main_columns())
        lines.add_row(
            str(finding.direction),
            finding.index,
            f"{finding.value:.3g}" + ("" if finding.converged else " *"),
            f"{finding.split.size} rows, {finding.share:.1%}",
            Text(main),
        )
    console.print(lines)
    if not all(finding.converged for finding in findings):
        console.print("* not converged: another run may find it elsewhere.")
    console.print(Text(f"\nLook at it: {folder / FILES[-1]}"))
    console.print(Text(f"More rows later: sightline transform {folder / FILES[0]} TABLE"))
