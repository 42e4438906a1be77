"""`sightline plan`: how many rows a rare part needs, or the rarest part that the rows can show."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from sightline.cli.errors import debug_option

if TYPE_CHECKING:
    from sightline.theory import RarestPart

_EXAMPLE = """\b
Examples:
  sightline plan --dim 300 --rare 0.02
  sightline plan --dim 300 --rare 0.05 --signal sparse --confidence 0.99 --json
  sightline plan --dim 300 --rows 5000
"""


@click.command(epilog=_EXAMPLE, short_help="Say how many rows a rare part needs.")
@click.option("--dim", type=click.IntRange(2, 10**9), required=True, help="Columns of the table.")
@click.option("--rare", type=float, help="Fraction of the rare part: how many rows does it need?")
@click.option(
    "--rows",
    type=click.IntRange(1, 10**15),
    help="Rows of the table, instead of --rare: what is the rarest part that they can show?",
)
@click.option(
    "--signal",
    type=click.Choice(["clusters", "sparse"]),
    default="clusters",
    show_default=True,
    help="Two groups, the rare one apart from the rest; or a variable that is mostly 0, and "
    "otherwise far out on either side.",
)
@click.option(
    "--confidence",
    type=float,
    default=0.9,
    show_default=True,
    help="Probability with which the direction is to be found.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
@debug_option
def plan(
    *,
    dim: int,
    rare: float | None,
    rows: int | None,
    signal: str,
    confidence: float,
    as_json: bool,
) -> None:
    """Say how many rows are needed, by each method and by the bounds under all of them.

    Rows are measured on planted data and fitted between; a plan beyond the cells that were
    measured is marked as extrapolated.
    """
    if (rare is None) == (rows is None):
        raise click.UsageError(
            "give one of --rare, to be told how many rows a part of that fraction needs, and "
            "--rows, to be told the rarest part that so many rows can show."
        )
    from sightline._options import check_number
    from sightline.theory import plan_samples, rarest_part
    from sightline.theory.plan import LEAST_P
    from sightline.theory.plan_fit import FAMILIES, METHODS

    try:
        check_number("--confidence", confidence, low=0, high=1, open_low=True, open_high=True)
        if rare is not None:
            high = FAMILIES[signal].limit
            check_number("--rare", rare, low=LEAST_P, high=high, open_high=True)
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    if rare is not None:
        needs = plan_samples(dim, rare, signal, confidence)
        click.echo(_as_json(asdict(needs)) if as_json else str(needs))
    elif rows is not None:
        parts = [rarest_part(rows, dim, signal, confidence, method) for method in METHODS]
        click.echo(_as_json(_together(parts)) if as_json else "\n".join(map(str, parts)))


def _together(parts: list[RarestPart]) -> dict[str, Any]:
    """Return what the parts share once, and what each method shows."""
    shared = {name: getattr(parts[0], name) for name in ("n", "d", "signal", "confidence")}
    own = ("method", "p", "largest_p", "extrapolated")
    return {**shared, "shown": [{name: getattr(part, name) for name in own} for part in parts]}


def _as_json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2)
