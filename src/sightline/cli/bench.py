"""`sightline bench`: this machine, this library and its peers, in one run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from sightline.cli.console import messages, results, working
from sightline.cli.errors import debug_option

if TYPE_CHECKING:
    from rich.console import Console

    from sightline.benchmarking import Report

_NAMES = ("step", "fit", "cost", "peers")

_EXAMPLE = """\b
Example:
  sightline bench step peers --rounds 5
"""


@click.command(epilog=_EXAMPLE)
@click.argument("names", nargs=-1, type=click.Choice(_NAMES), metavar="[NAME]...")
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="How often everything is timed; the median counts. Peers get a new table each time.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
@click.option("--quiet", is_flag=True, help="No progress messages.")
@debug_option
def bench(*, names: tuple[str, ...], rounds: int, seed: int, as_json: bool, quiet: bool) -> None:
    """Measure what this machine does with this library.

    NAME is "step" (a gradient step beside its matrix products), "fit" (a two-step fit beside
    its), "cost" (against rows, columns and starts) or "peers" (the default beside other packages,
    those of Python and R that are installed); all where none is given. Minutes in all. Figures of
    one run compare with each other, and with no other run's.
    """
    console = messages(quiet=quiet)
    with working(console, "Loading libraries"):
        from sightline.benchmarking import BENCHMARKS, hardware
    machine = hardware()
    if not as_json:
        for key, value in machine.items():
            text = ", ".join(value) if isinstance(value, list) else value
            click.echo(f"{key}: {text}")
        click.echo(f"seed: {seed}, rounds: {rounds}")
    reports = {}
    for name in names or _NAMES:
        with working(console, f"Measuring {name}"):
            reports[name] = BENCHMARKS[name](seed, rounds)
        if not as_json:
            _tell(results(), reports[name])
    if as_json:
        document = {
            "hardware": machine,
            "seed": seed,
            "rounds": rounds,
            "benchmarks": {
                name: {"title": report.title, "rows": report.rows, "notes": report.notes}
                for name, report in reports.items()
            },
        }
        click.echo(json.dumps(document, indent=1))


def _tell(console: Console, report: Report) -> None:
    """Print a report as a table under its title, and its notes."""
    from rich.table import Table
    from rich.text import Text

    console.print(Text(f"\n{report.title}", style="bold"))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column, value in report.rows[0].items():
        table.add_column(column, justify="left" if isinstance(value, str) else "right")
    for row in report.rows:
        table.add_row(
            *(f"{value:.3f}" if isinstance(value, float) else str(value) for value in row.values())
        )
    console.print(table)
    for note in report.notes:
        console.print(Text(note))
