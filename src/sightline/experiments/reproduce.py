"""A figure from its grid to its report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sightline.experiments.drawing import save_picture
from sightline.experiments.figure import Context, Figure
from sightline.experiments.report import Outcome, write_report
from sightline.experiments.runner import Progress, run_grid
from sightline.experiments.workers import Crew


class MissingDataError(FileNotFoundError):
    """The real data that a figure needs are nowhere."""

    exit_code = 66


def reproduce(
    figure: Figure,
    folder: Path,
    crew: Crew,
    *,
    scale: str = "smoke",
    context: Context,
    force: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Run a figure's grid, or the rest of it, and write everything that `store.OUTPUTS` names.

    Parameters
    ----------
    figure : one of `FIGURES`, or your own.
    folder : where it goes; a run of the same settings that is there already is continued.
    crew : who computes, from `open_crew`.
    scale : "smoke", "quick" or "paper".
    context : seed, device, folder of real data.
    force : discard a run of other settings in the folder.
    progress : is told after every cell how far it is.
    """
    try:
        figure.prepare(context)
    except FileNotFoundError as error:
        raise MissingDataError(str(error)) from error
    run = run_grid(figure, scale, folder, context, crew, force=force, progress=progress)
    summary = figure.summarise(run.rows)
    run.store.write_summary(summary)
    save_picture(figure.draw(run.rows, summary), folder)
    findings = () if scale == "smoke" else tuple(figure.judge(summary))
    outcome = Outcome(run, findings)
    write_report(outcome)
    return outcome
