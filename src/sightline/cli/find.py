"""`sightline find`: a table in, directions worth looking at out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sightline.cli.console import messages, results, working
from sightline.cli.options import (
    FILES,
    check_unwritten,
    check_writable,
    common_options,
    data_options,
    make_request,
    stem,
)

if TYPE_CHECKING:
    from rich.console import Console

    from sightline.cli.findings import Finding
    from sightline.cli.outputs import Results

_EXAMPLE = """\b
Examples:
  sightline find measurements.csv --label-column species
  sightline find cells.h5ad --array obsm/X_pca --directions 5
  zcat big.csv.gz | sightline find - --drop id,date --json
"""

_LEVEL = 0.05
"""A p-value up to which a direction counts as more than noise."""


@click.command(epilog=_EXAMPLE)
@click.argument("data")
@data_options
@click.option(
    "--index",
    default="groups",
    show_default=True,
    help="What makes a direction interesting: relu2 (a small group far out), abs or kurtosis "
    "(sparse, heavy tails), absmax (balanced groups), and others; groups takes relu2, or absmax "
    "where that shows more clear groups; auto searches by five at once, for five times as long, "
    "and says which one found each direction.",
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
    type=click.Choice(["auto", "exact", "shrunk", "none"]),
    default="auto",
    show_default=True,
    help="How the spread of the data is evened out before searching; auto tries them.",
)
@click.option(
    "--starts",
    type=click.IntRange(min=1),
    help="How many starts climb.  [default: up to 2048, as needed; 128 from 10,000 rows on]",
)
@click.option(
    "--sample",
    type=click.IntRange(min=2),
    default=20_000,
    show_default=True,
    help="Search on this many rows, drawn at random where there are more; all rows are scored.",
)
@click.option(
    "--significance",
    is_flag=True,
    help="Repeat the search on tables without structure and print p-values. Takes 99 times as "
    "long as the search.",
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
    _check_index(options["index"])
    folder = Path(f"{stem(data)}-sightline") if output is None else output
    for name in FILES:
        check_unwritten(folder / name, force=force)
    check_writable(folder)
    request = make_request(options)
    console = messages(quiet=options["quiet"])
    with working(console, "Loading libraries"):
        from sightline.cli.findings import describe
        from sightline.cli.outputs import Results
        from sightline.cli.reading import read_rows
        from sightline.cli.search import search_table
    seed = options["seed"]
    rows = read_rows(data, request, sample=options["sample"], seed=seed, console=console)
    folder.mkdir(parents=True, exist_ok=True)
    finished: list[Path] = []
    try:
        search = search_table(rows.table, options, console)
        with working(console, "Scoring and writing"):
            findings = describe(search, rows.table)
            result = Results(rows, search, findings)
            result.write(folder, finished)
    except KeyboardInterrupt:
        if finished:
            console.print(f"Kept {', '.join(map(str, finished))}.", markup=False)
        raise
    finally:
        if not any(folder.iterdir()):
            folder.rmdir()
    if as_json:
        click.echo(json.dumps(_summary(result, folder, seed), indent=2))
    else:
        _tell(results(), result.findings, folder)


def _check_index(name: str) -> None:
    from sightline.indices import INDICES

    known = (name for name, kind in INDICES.items() if not kind.whole_sample)
    climbable = ["groups", "auto", *known]
    if name not in climbable:
        raise click.UsageError(f"--index {name} is unknown. Choose from {', '.join(climbable)}.")


def _summary(result: Results, folder: Path, seed: int) -> dict[str, Any]:
    table = result.rows.table
    return {
        "source": table.name,
        "rows": result.rows.n_rows,
        "columns": len(table.columns),
        "left_out": dict(table.left_out),
        "notes": list(table.notes),
        "seed": seed,
        "directions": [finding.as_json() for finding in result.findings],
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
    if findings[0].p_value is not None:
        lines.add_column("p-value", justify="right")
    lines.add_column("small side", justify="right")
    lines.add_column("columns that matter most, by weight in standard units", overflow="fold")
    for finding in findings:
        main = ", ".join(f"{weight:+.2f} {column}" for column, weight in finding.main_columns())
        lines.add_row(
            str(finding.direction),
            finding.index,
            f"{finding.value:.3g}",
            *([] if finding.p_value is None else [f"{finding.p_value:.2g}"]),
            f"{finding.small_side} rows, {finding.share:.1%}",
            Text(main),
        )
    console.print(lines)
    if not findings[0].converged:
        console.print("The first direction has not converged: another --seed may turn it.")
    if doubt := _doubt(findings):
        console.print(doubt)
    console.print(Text(f"\nLook at it: {folder / FILES[-1]}"))
    console.print(Text(f"More rows later: sightline transform {folder / FILES[0]} TABLE"))


def _doubt(findings: list[Finding]) -> str | None:
    """Say so where nothing that was found is known to be more than noise gives."""
    p_values = [finding.p_value for finding in findings if finding.p_value is not None]
    if p_values:
        if min(p_values) <= _LEVEL:
            return None
        return (
            f"No p-value is at most {_LEVEL:g}: tables of the same covariance without any "
            "structure give as much. Another --index may see what this one does not."
        )
    if any(finding.clear for finding in findings):
        return None
    return (
        "No direction has modes so clear that noise is out of the question: --significance says "
        "how often it gives as much."
    )
