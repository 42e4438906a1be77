"""What a reader of a finished run sees first: REPORT.md, and the index page of several."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sightline.experiments.figure import Finding
from sightline.experiments.provenance import hardware
from sightline.experiments.runner import Run
from sightline.experiments.store import write_safely

_ANSWERS = {True: "held", False: "did not hold", None: "open"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished figure: the run, and what was found; nothing is judged at the smoke scale."""

    run: Run
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> str:
        """Say in a few words how many of the paper's statements held."""
        if not self.findings:
            return "not judged at this scale"
        judged = [finding.held for finding in self.findings if finding.held is not None]
        if not judged:
            return f"all {len(self.findings)} statements open"
        words = f"{sum(judged)} of {len(judged)} statements held"
        still_open = len(self.findings) - len(judged)
        return words + (f", {still_open} open" if still_open else "")


def write_report(outcome: Outcome) -> None:
    """Write REPORT.md: claim, picture, what held, deviations, and how to run it again."""
    run = outcome.run
    figure, context = run.figure, run.context
    lines = [
        f"# {figure.title}",
        f"*What the paper shows.* {figure.claim}",
        f"![{figure.title}](figure.png)",
        "## Did it hold?",
        _judged(outcome),
        "## What was measured",
        f"{len(run.rows):,} rows from {len(figure.cells[run.scale]):,} cells at scale "
        f"`{run.scale}`; {_duration(run.seconds)} of computing in all. All rows are in "
        "`results.parquet`, the numbers behind the picture in `summary.csv`.",
        "## Where this departs from the paper, or has to read it one way",
        "\n".join(f"- {line}" for line in figure.deviations) or "Nowhere that we know of.",
        "## To run it again",
        f"    {command_of(run)}",
        f"Seed {context.seed}. Versions: "
        + ", ".join(f"{name} {number}" for name, number in run.store.settings["versions"].items())
        + f". Hardware: {hardware(context.device)}.",
    ]
    write_safely(run.store.folder / "REPORT.md", ("\n\n".join(lines) + "\n").encode())


def command_of(run: Run) -> str:
    """Return the command line that gives these results again."""
    words = f"sightline reproduce {run.figure.name} --scale {run.scale} --seed {run.context.seed}"
    if run.context.device != "cpu":
        words += f" --device {run.context.device}"
    return words


def write_index(outcomes: Sequence[Outcome], missing: dict[str, str], folder: Path) -> Path:
    """Write index.html: every figure with its picture and verdict, and why some are missing."""
    parts = [_section(outcome, folder) for outcome in outcomes]
    parts += [
        f"<section><h2>{html.escape(name)}</h2><p>Not there: {html.escape(reason)}</p></section>"
        for name, reason in missing.items()
    ]
    page = _PAGE.format(sections="\n".join(parts))
    path = folder / "index.html"
    write_safely(path, page.encode())
    return path


def _section(outcome: Outcome, folder: Path) -> str:
    figure = outcome.run.figure
    place = outcome.run.store.folder.relative_to(folder).as_posix()
    title, claim = html.escape(figure.title), html.escape(figure.claim)
    found = "".join(
        f"<li><b>{_ANSWERS[finding.held]}</b>: {html.escape(finding.claim)} "
        f"<small>{html.escape(finding.evidence)}</small></li>"
        for finding in outcome.findings
    )
    return (
        f'<section id="{figure.name}"><h2>{title}</h2><p>{claim}</p>'
        f'<img src="{place}/figure.png" alt="{title}">'
        f"<p>Scale {outcome.run.scale}: {outcome.verdict}.</p><ul>{found}</ul>"
        f'<p><a href="{place}/REPORT.md">report</a> · <a href="{place}/summary.csv">summary</a> · '
        f'<a href="{place}/results.parquet">results</a> · '
        f'<a href="{place}/figure.pdf">figure as PDF</a></p></section>'
    )


def _judged(outcome: Outcome) -> str:
    if not outcome.findings:
        return "Not judged: at this scale it only shows that it runs. Use `--scale quick`."
    head = "| statement | answer | evidence |\n|---|---|---|\n"
    return head + "\n".join(
        f"| {finding.claim} | **{_ANSWERS[finding.held]}** | {finding.evidence} |"
        for finding in outcome.findings
    )


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>The paper's figures, reproduced</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #22262b; max-width: 60rem;
  margin: 2rem auto; padding: 0 1rem; }}
section {{ border-top: 1px solid #c8cdd3; margin-top: 2.5rem; }}
img {{ max-width: 100%; }}
small {{ color: #555d66; }}
</style></head><body>
<h1>The paper's figures, reproduced</h1>
{sections}
</body></html>
"""
