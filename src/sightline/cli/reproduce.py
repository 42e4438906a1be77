"""`sightline reproduce`: a figure of the paper, from data to verdict."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sightline.cli.console import bar, messages, working
from sightline.cli.options import common_options

if TYPE_CHECKING:
    from rich.console import Console

    from sightline.experiments import Context, Figure, Outcome, Progress
    from sightline.experiments.workers import Crew

_EXAMPLE = """\b
Examples:
  sightline reproduce methods-clusters
  sightline reproduce information-har --scale paper --data-home data
  sightline reproduce all --scale smoke --output figures
"""

_LOG_EVERY = 30.0
"""Seconds between two lines of progress where stderr is no terminal."""


@click.command(epilog=_EXAMPLE)
@click.argument("figure")
@click.option(
    "--scale",
    type=click.Choice(["smoke", "quick", "paper"]),
    default="quick",
    show_default=True,
    help="Seconds; minutes on two cores; the printed grid.",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write.  [default: sightline-FIGURE]",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--jobs",
    type=click.IntRange(min=1),
    help="Processes, each with one BLAS thread.  [default: one a core; 1 with --device cuda]",
)
@click.option("--dask", metavar="ADDRESS", help="Compute on the Dask cluster at this scheduler.")
@click.option(
    "--device",
    type=click.Choice(["cpu", "cuda"]),
    default="cpu",
    show_default=True,
    help="cuda computes on a GPU through torch.",
)
@click.option(
    "--data-home",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the official files of FashionMNIST and HAR; fetched once otherwise.",
)
@click.option("--force", is_flag=True, help="Discard a run of other settings in the folder.")
@common_options
def reproduce(
    *, figure: str, output: Path | None, force: bool, quiet: bool, **options: Any
) -> None:
    """Reproduce FIGURE of the paper, or `all` of them.

    The folder gets the results, a summary, the picture, and a report that says what held. A run
    that was interrupted goes on where it was.
    """
    if options["dask"] is not None and options["jobs"] is not None:
        raise click.UsageError("--jobs has no use with --dask, whose cluster has its own workers.")
    console = messages(quiet=quiet)
    with working(console, "Loading libraries"):
        from sightline.experiments import FIGURES, Context, open_crew
        from sightline.experiments.provenance import check_device, usable_cores
    chosen = list(FIGURES) if figure == "all" else [figure]
    if figure not in (*FIGURES, "all"):
        raise click.UsageError(
            f"there is no figure {figure!r}. Choose from all, {', '.join(FIGURES)}."
        )
    check_device(options["device"])
    folder = Path(f"sightline-{figure}") if output is None else output
    jobs = options["jobs"] or (usable_cores() if options["device"] == "cpu" else 1)
    context = Context(options["seed"], options["device"], options["data_home"])
    with open_crew(jobs, options["dask"]) as crew:
        run = _Run(options["scale"], context, crew, force, console)
        if figure == "all":
            run.all([FIGURES[name] for name in chosen], folder)
        else:
            run.one(FIGURES[figure], folder)


class _Run:
    """What all figures of one command have in common."""

    def __init__(
        self, scale: str, context: Context, crew: Crew, force: bool, console: Console
    ) -> None:
        self.scale, self.context, self.crew = scale, context, crew
        self.force, self.console = force, console

    def one(self, figure: Figure, folder: Path) -> Outcome:
        """Reproduce a figure, print its verdict and where it is."""
        from sightline.experiments import reproduce as run_figure

        with _progress(self.console, figure.name) as progress:
            outcome = run_figure(
                figure,
                folder,
                self.crew,
                scale=self.scale,
                context=self.context,
                force=self.force,
                progress=progress,
            )
        click.echo(f"{figure.name}: {outcome.verdict}. {folder / 'REPORT.md'}")
        return outcome

    def all(self, figures: list[Figure], folder: Path) -> None:
        """Reproduce figure after figure; one whose data are missing does not stop the others."""
        from sightline.cli.errors import sentence
        from sightline.experiments import MissingDataError, write_index

        outcomes, missing = [], {}
        for figure in figures:
            try:
                outcomes.append(self.one(figure, folder / figure.name))
            except MissingDataError as error:
                missing[figure.name] = sentence(error)
                self.console.print(f"{figure.name}: {sentence(error)}", markup=False)
        click.echo(write_index(outcomes, missing, folder))


@contextmanager
def _progress(console: Console, name: str) -> Iterator[Callable[[Progress], None]]:
    """Yield what a run tells its progress to: a bar on a terminal, else a line now and then."""
    with bar(console, name) as advance:
        if advance is not None:
            yield lambda progress: advance(progress.part)
            return
        began = spoke = time.monotonic()

        def log(progress: Progress) -> None:
            nonlocal spoke
            now = time.monotonic()
            if now - spoke >= _LOG_EVERY:
                spoke = now
                left = (now - began) * (1 - progress.part) / progress.part
                console.print(
                    f"{name}: {progress.done} of {progress.total} cells, "
                    f"about {left / 60:.0f} min left",
                    markup=False,
                )

        yield log
