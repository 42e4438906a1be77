"""The climb of all starts: the selection index of every iterate against the step."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from sightline._options import check_count
from sightline.plots.axes import FAINT, INK, bare, given_or_new, plain
from sightline.views.bins import Floats
from sightline.views.palette import BULK, MARKED

_MOST_LINES = 60
"""Starts that are drawn as lines; of more, bands say where how many of them are."""

_BANDS = ((0.0, 1.0, 0.22), (0.05, 0.95, 0.4), (0.25, 0.75, 0.65))
"""Quantiles between which a band lies, and its opacity."""


class ClimbDisplay:
    """psi of all starts at every step of a climb, with the best start in front.

    Parameters
    ----------
    history : (s, m) psi of every iterate, as in the result of `two_step_gradient_ascent`.
    best : which start is drawn in front; None is the one whose largest psi is largest.
    first_run : steps of the first of two runs, after which a line is drawn; None draws none.
    name : what psi is called.

    Attributes
    ----------
    ax_, figure_ : where it was drawn.
    """

    def __init__(
        self,
        history: Any,
        *,
        best: int | None = None,
        first_run: int | None = None,
        name: str = "Selection index",
    ) -> None:
        self.history: Floats = np.asarray(history, dtype=np.float64)
        if self.history.ndim != 2 or not self.history.size:
            raise ValueError(
                f"history has shape {self.history.shape}; it must be a table, (steps, starts)."
            )
        if not np.isfinite(self.history).all():
            raise ValueError("history contains NaN or infinity.")
        steps, starts = self.history.shape
        if best is None:
            best = int(self.history.max(axis=0).argmax())
        self.best = check_count("best", best, at_least=0, at_most=starts - 1)
        if first_run is not None:
            check_count("first_run", first_run, at_most=steps)
        self.first_run = first_run
        self.name = name
        self.ax_: Axes | None = None
        self.figure_: Figure | SubFigure | None = None

    @classmethod
    def from_result(cls, result: Any, ax: Axes | None = None) -> Self:
        """Draw the climb of a `TwoStepAscent`, whose two runs have the same number of steps."""
        return cls(result.history, best=0, first_run=result.history.shape[0] // 2).plot(ax)

    @classmethod
    def from_history(
        cls,
        history: Any,
        ax: Axes | None = None,
        *,
        first_run: int | None = None,
        name: str = "Selection index",
    ) -> Self:
        """Draw a `history` (s, m)."""
        return cls(history, first_run=first_run, name=name).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on the axes of a new figure; return the display."""
        ax = given_or_new(ax, (5.6, 3.4))
        n_steps, n_starts = self.history.shape
        steps = np.arange(1, n_steps + 1)
        if n_starts <= _MOST_LINES:
            ax.plot(steps, self.history, color=BULK, linewidth=0.8, alpha=0.7)
        else:
            for lower, upper, opacity in _BANDS:
                low, high = np.quantile(self.history, (lower, upper), axis=1)
                ax.fill_between(steps, low, high, color=BULK, alpha=opacity, linewidth=0)
        front = self.history[:, self.best]
        marker = "o" if n_steps <= _MOST_LINES else ""
        ax.plot(steps, front, color=MARKED, linewidth=1.8, marker=marker, markersize=3.5)
        if self.first_run is not None:
            ax.axvline(self.first_run + 0.5, color=FAINT, linestyle=(0, (2, 3)), linewidth=1)
        bare(ax)
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        ax.set_xlabel("Step")
        ax.set_ylabel(plain(self.name, 60))
        bands = "" if n_starts <= _MOST_LINES else "; bands hold all, 90 % and half of them"
        ax.set_title(
            f"{n_starts:,} start{'s' if n_starts > 1 else ''}, the best in front{bands}",
            fontsize="small",
            color=INK,
            loc="left",
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self
