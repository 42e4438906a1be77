"""`sightline demo`: a rare group that no column and no principal component shows."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sightline.cli.console import messages, results, working
from sightline.cli.errors import debug_option

if TYPE_CHECKING:
    import numpy as np
    from rich.console import Console

    from sightline.cli.demo_views import View

_SPREAD = 0.5
"""Width of both groups before standardising: real groups are no points."""

_EXAMPLE = """\b
Example:
  sightline demo --rows 3000 --columns 50 --seed 7
"""


@click.command(epilog=_EXAMPLE)
@click.option("--rows", type=click.IntRange(min=50), default=5000, show_default=True)
@click.option("--columns", type=click.IntRange(min=2), default=100, show_default=True)
@click.option(
    "--rare",
    type=click.FloatRange(0, 0.5, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="How large the hidden group is, as a fraction of the rows.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("sightline-demo"),
    show_default=True,
    help="Folder for the picture.",
)
@click.option("--force", is_flag=True, help="Overwrite the picture of an earlier run.")
@click.option("--quiet", is_flag=True, help="No progress messages.")
@debug_option
def demo(
    *, rows: int, columns: int, rare: float, seed: int, output: Path, force: bool, quiet: bool
) -> None:
    """Hide a rare group in noise, find it, and draw it.

    The rows are normal in every direction but one, along which a small group lies apart. No column
    and no principal component shows it.
    """
    picture = output / "demo.png"
    if picture.exists() and not force:
        raise click.UsageError(f"{picture} exists. Use --force to overwrite it, or --output.")
    output.mkdir(parents=True, exist_ok=True)
    console = messages(quiet=quiet)
    with working(console, "Loading libraries"):
        from sightline.cli.demo_views import draw, look
        from sightline.datasets import ImbalancedClusters, make_planted
        from sightline.estimators import ProjectionPursuit

    signal = ImbalancedClusters(rare, spread=_SPREAD)
    X, direction, labels = make_planted(rows, columns, signal, random_state=seed)
    hidden = labels == 1
    if not hidden.any():
        raise click.UsageError(f"seed {seed} draws no group. Use more --rows or a larger --rare.")
    console.print(f"Hid {hidden.sum()} of {rows} rows along one direction of {columns}.")
    with working(console, "Looking for the direction"):
        began = time.perf_counter()
        pursuit = ProjectionPursuit(random_state=seed).fit(X)
        seconds = time.perf_counter() - began
    console.print(f"Found a direction in {seconds:.1f} s, without seeing which rows were hidden.")

    views = look(X, pursuit.transform(X)[:, 0], hidden)
    draw(views, hidden, picture)
    alignment = abs(float(pursuit.components_[0] @ direction))
    _tell(results(), views, hidden, alignment, columns)
    click.echo(f"\nThe picture: {picture}")
    click.echo("Next, your own table: sightline find TABLE.csv")


def _tell(
    console: Console, views: list[View], hidden: np.ndarray, alignment: float, columns: int
) -> None:
    """Print what each view shows of the hidden group, the alignment, and the split."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Looking along")
    table.add_column(f"hidden rows among\nthe {hidden.sum()} furthest out", justify="right")
    table.add_column("distance between the\ngroups, in their sd", justify="right")
    for view in views:
        style = "bold" if view is views[-1] else ""
        table.add_row(view.name, str(view.hits), f"{view.separation:.1f}", style=style)
    console.print(table)
    console.print(
        "The column and the component were chosen knowing the hidden rows, the direction not.",
        style="dim",
    )
    found = views[-1]
    small = found.scores > found.threshold
    inside = int((small & hidden).sum())
    chance = math.sqrt(2 / (math.pi * columns))
    console.print(
        f"\nAlignment with the planted direction: [bold]{alignment:.3f}[/bold] "
        f"(1 is perfect, a random direction has about {chance:.2f})."
    )
    console.print(
        f"The split at {found.threshold:.2f}: [bold]{small.sum()}[/bold] rows on the small side, "
        f"[bold]{inside}[/bold] of the {hidden.sum()} hidden ones among them, "
        f"{small.sum() - inside} others."
    )
