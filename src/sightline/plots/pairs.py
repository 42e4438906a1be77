"""Every pair of directions at once: histograms on the diagonal, scatters below it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from sightline._options import check_count
from sightline.plots.axes import as_scores, bare, plain, scores_of
from sightline.plots.scatter import ScatterDisplay, draw_legend, styled_groups
from sightline.views import bin_scores, view_range
from sightline.views.bins import Floats

_MOST_DIRECTIONS = 8
"""Directions in one matrix; with more of them no panel is large enough to read."""


class PairsDisplay:
    """Matrix of panels for several directions: panel (i, j) shows scores i against scores j.

    Parameters
    ----------
    scores : (n, k) finite numbers, k from 2 to 8.
    labels : (n,) one a row, of any kind, or None.
    names : (k,) what the directions are called, or None for their numbers.

    Attributes
    ----------
    axes_ : (k, k) array of axes, None above the diagonal.
    figure_ : the figure that was made.
    """

    def __init__(self, scores: Any, *, labels: Any = None, names: Sequence[str] | None = None):
        table = np.asarray(scores)
        if table.ndim != 2:
            raise ValueError(f"scores have shape {table.shape}; they must be a table, (n, k).")
        check_count("directions", table.shape[1], at_least=2, at_most=_MOST_DIRECTIONS)
        self.columns: list[Floats] = [as_scores(column) for column in table.T]
        self.labels = labels
        self.groups, self.styles = styled_groups(labels, table.shape[0])
        self.names = names or [f"Direction {place + 1}" for place in range(len(self.columns))]
        self.axes_: np.ndarray[Any, Any] | None = None
        self.figure_: Figure | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        components: Sequence[int] | None = None,
        labels: Any = None,
    ) -> Self:
        """Draw the rows of `X` along the first eight directions, or given ones."""
        if components is None:
            components = range(min(len(estimator.components_), _MOST_DIRECTIONS))
        scores = np.stack(scores_of(estimator, X, components), axis=1)
        names = [f"Direction {component + 1}" for component in components]
        return cls(scores, labels=labels, names=names).plot()

    @classmethod
    def from_scores(cls, scores: Any, labels: Any = None) -> Self:
        """Draw `scores` (n, k) that are there already."""
        return cls(scores, labels=labels).plot()

    def plot(self) -> Self:
        """Draw in a new figure; return the display."""
        k = len(self.columns)
        figure, axes = plt.subplots(
            k, k, figsize=(1.9 * k + 1.2, 1.9 * k), layout="constrained", squeeze=False
        )
        for row in range(k):
            for column in range(k):
                ax = axes[row, column]
                if column > row:
                    ax.remove()
                    axes[row, column] = None
                    continue
                if column == row:
                    self._draw_histogram(ax, row)
                else:
                    self._draw_pair(ax, row, column)
                self._name_axes(ax, row, column)
        if len(self.groups) > 1:
            draw_legend(figure, self.groups, self.styles)
        self.axes_, self.figure_ = axes, figure
        return self

    def _draw_histogram(self, ax: Axes, place: int) -> None:
        scores = self.columns[place]
        span = view_range(scores)
        floor = np.zeros_like(bin_scores(scores, span).counts)
        for group in self.groups.largest_first:
            bins = bin_scores(scores[self.groups.codes == group], span, floor.size)
            width = bins.edges[1] - bins.edges[0]
            style = self.styles[group]
            ax.bar(
                bins.centres,
                bins.counts,
                width,
                floor,
                color=style.colour,
                hatch=style.hatch,
                edgecolor="white",
                linewidth=0.2,
            )
            floor += bins.counts

    def _draw_pair(self, ax: Axes, row: int, column: int) -> None:
        ScatterDisplay(self.columns[column], self.columns[row], labels=self.labels).plot(
            ax, legend=False
        )

    def _name_axes(self, ax: Axes, row: int, column: int) -> None:
        """Leave names and ticks only at the left and the bottom of the matrix."""
        last = len(self.columns) - 1
        bare(ax, keep=("bottom",) if row == column else ("left", "bottom"))
        ax.set_xlabel(plain(self.names[column]) if row == last else "")
        ax.set_ylabel(plain(self.names[row]) if column == 0 and row > 0 else "")
        ax.tick_params(
            labelbottom=row == last,
            labelleft=column == 0 and row > 0,
            left=row != column,
            labelsize="small",
        )
