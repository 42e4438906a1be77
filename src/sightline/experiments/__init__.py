"""The paper's experiments, each reproduced by one call or one command.

`FIGURES` has every figure by the name that `sightline reproduce` knows. Nothing here is needed to
use the library on data.
"""

from __future__ import annotations

from sightline.experiments.figure import SCALES, Cell, Context, Figure, Finding, Row, grid
from sightline.experiments.figures import (
    ambient,
    anisotropic,
    comparison,
    histograms,
    information,
    phase,
    transition,
    unequal_variance,
)
from sightline.experiments.methods import METHODS, Method, Problem, find_directions
from sightline.experiments.report import Outcome, write_index
from sightline.experiments.reproduce import MissingDataError, reproduce
from sightline.experiments.runner import Progress, Run, run_grid
from sightline.experiments.workers import open_crew

__all__ = [
    "FIGURES",
    "METHODS",
    "SCALES",
    "Cell",
    "Context",
    "Figure",
    "Finding",
    "Method",
    "MissingDataError",
    "Outcome",
    "Problem",
    "Progress",
    "Row",
    "Run",
    "find_directions",
    "grid",
    "open_crew",
    "reproduce",
    "run_grid",
    "write_index",
]

FIGURES: dict[str, Figure] = {
    figure.name: figure
    for module in (
        phase,
        comparison,
        information,
        histograms,
        unequal_variance,
        anisotropic,
        ambient,
        transition,
    )
    for figure in module.FIGURES
}
"""Every figure, in the order of the paper."""
