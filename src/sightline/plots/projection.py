"""Scores along one direction: histogram, density, groups, and the threshold that parts them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator

from sightline._options import check_choice, check_number
from sightline.plots.axes import (
    FAINT,
    INK,
    as_scores,
    bare,
    given_or_new,
    name_of,
    plain,
    scores_of,
)
from sightline.split import Split, split_in_two
from sightline.views import Groups, GroupStyle, bin_scores, group_rows, group_style
from sightline.views.bins import Floats, smooth_density, view_range
from sightline.views.palette import BULK, MARKED

_STRIP_BINS = 300
"""Places in a group's strip; a place is dark where the group has rows."""

_STRIP_HEIGHT = 0.075
"""Of a strip, as a part of the histogram's."""

_ROOM = 0.05
"""Left free on either side, as a part of the range of the scores."""

_SIDES = (GroupStyle(BULK, "-", "o", ""), GroupStyle(MARKED, "--", "^", "////"))
"""How the bulk and the small side look where rows have no labels."""


class ProjectionDisplay:
    """Histogram and density of the scores along a direction.

    Bars are stacked by group. Under them each group has a strip that is dark where it has rows, so
    that a group of ten rows among a million is seen too. Without labels the groups are the two
    sides of the threshold.

    Parameters
    ----------
    scores : (n,) finite numbers.
    labels : (n,) one a row, of any kind, or None.
    threshold : "auto" finds it (`sightline.split.split_in_two`), a number gives it, None has none.
    name : what the scores are called.

    Attributes
    ----------
    ax_, figure_ : where it was drawn.
    threshold_ : the threshold that is drawn, or None.
    """

    def __init__(
        self,
        scores: Any,
        *,
        labels: Any = None,
        threshold: Any = "auto",
        name: str = "Score",
    ) -> None:
        self.scores: Floats = as_scores(scores)
        self.name = name
        self.threshold_, small = _threshold(self.scores, threshold)
        self.groups, self.styles = _groups(self.scores, labels, small)
        self.ax_: Axes | None = None
        self.figure_: Figure | SubFigure | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        component: int = 0,
        labels: Any = None,
        ax: Axes | None = None,
        *,
        threshold: Any = "auto",
        name: str | None = None,
    ) -> Self:
        """Draw the scores of the rows of `X` along a direction of a fitted estimator."""
        (scores,) = scores_of(estimator, X, [component])
        title = name_of(estimator, component) if name is None else name
        return cls(scores, labels=labels, threshold=threshold, name=title).plot(ax)

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        labels: Any = None,
        ax: Axes | None = None,
        *,
        threshold: Any = "auto",
        name: str = "Score",
    ) -> Self:
        """Draw `scores` (n,) that are there already."""
        return cls(scores, labels=labels, threshold=threshold, name=name).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on the axes of a new figure; return the display."""
        n_strips = len(self.groups) if len(self.groups) > 1 else 0
        ax = given_or_new(ax, (6.4, 3.4 + 0.16 * n_strips))
        low, high = view_range(self.scores)
        top = self._draw_bars(ax, (low, high))
        self._draw_strips(ax, (low, high), top, n_strips)
        self._draw_threshold(ax, (low, high), top)
        bare(ax)
        ax.spines["left"].set_bounds(0, top)
        ax.set_xlabel(plain(self.name, 60))
        ax.set_ylabel("Rows")
        room = _ROOM * (high - low)
        ax.set_xlim(low - room, high + room)
        ax.set_ylim(-_STRIP_HEIGHT * top * (n_strips + 0.4 * bool(n_strips)), top)
        ticks = np.asarray(MaxNLocator(5, integer=True).tick_values(0, top))
        ax.set_yticks(ticks[(ticks >= 0) & (ticks <= top)])
        self._note_beyond(ax, (low, high))
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_bars(self, ax: Axes, span: tuple[float, float]) -> float:
        """Draw stacked bars and the density; return the height that the histogram takes."""
        whole = bin_scores(self.scores, span)
        floor = np.zeros_like(whole.counts)
        width = whole.edges[1] - whole.edges[0]
        for place in self.groups.largest_first:
            of_group = self.scores[self.groups.codes == place]
            counts = bin_scores(of_group, span, floor.size).counts
            style = self.styles[place]
            ax.bar(
                whole.centres,
                counts,
                width,
                floor,
                color=style.colour,
                hatch=style.hatch,
                edgecolor="white",
                linewidth=0.4,
            )
            floor += counts
        room = _ROOM * (span[1] - span[0])
        wide = (span[0] - room, span[1] + room)
        density = smooth_density(self.scores, wide) * self.scores.size * width
        ax.plot(np.linspace(*wide, density.size), density, color=INK, linewidth=1.1)
        return 1.08 * float(max(floor.max(), density.max()))

    def _draw_strips(self, ax: Axes, span: tuple[float, float], top: float, n_strips: int) -> None:
        """Draw a row of marks for each group under the histogram, with its name and count."""
        ax.axhline(0, color=FAINT, linewidth=0.8)
        for place in range(n_strips):
            of_group = self.scores[self.groups.codes == place]
            bins = bin_scores(of_group, span, _STRIP_BINS)
            centre = -_STRIP_HEIGHT * top * (place + 0.7)
            half = 0.36 * _STRIP_HEIGHT * top
            ax.vlines(
                bins.centres[bins.counts > 0],
                centre - half,
                centre + half,
                color=self.styles[place].colour,
                linewidth=1.3,
            )
            ax.annotate(
                f"{plain(self.groups.names[place], 22)}  {self.groups.counts[place]:,}",
                (0, centre),
                xycoords=ax.get_yaxis_transform(),
                xytext=(-6, 0),
                textcoords="offset points",
                ha="right",
                va="center",
                fontsize="small",
                color=INK,
            )

    def _draw_threshold(self, ax: Axes, span: tuple[float, float], top: float) -> None:
        if self.threshold_ is None or not span[0] <= self.threshold_ <= span[1]:
            return
        ax.vlines(self.threshold_, 0, top, color=INK, linestyle=(0, (4, 3)), linewidth=1.1)
        to_the_left = self.threshold_ > span[0] + 0.7 * (span[1] - span[0])
        ax.annotate(
            f"threshold {self.threshold_:.4g}",
            (self.threshold_, top),
            xytext=(-4 if to_the_left else 4, -2),
            textcoords="offset points",
            ha="right" if to_the_left else "left",
            va="top",
            fontsize="small",
            color=INK,
        )

    def _note_beyond(self, ax: Axes, span: tuple[float, float]) -> None:
        beyond = int(np.count_nonzero((self.scores < span[0]) | (self.scores > span[1])))
        if beyond:
            ax.set_title(
                f"{beyond:,} row(s) further out are counted in the bars at the ends",
                fontsize="small",
                color=FAINT,
                loc="right",
            )


def _threshold(
    scores: Floats, threshold: Any
) -> tuple[float | None, np.ndarray[Any, np.dtype[np.bool_]]]:
    """Return the threshold, or None, and the rows on the side of it that has fewer."""
    nobody = np.zeros(scores.size, dtype=np.bool_)
    if threshold is None:
        return None, nobody
    if isinstance(threshold, str):
        check_choice("threshold", threshold, ("auto",))
        split: Split = split_in_two(scores)
        return (split.threshold, split.small) if split.size else (None, nobody)
    value = check_number("threshold", threshold)
    upper = scores > value
    return value, upper if 2 * np.count_nonzero(upper) <= scores.size else ~upper


def _groups(
    scores: Floats, labels: Any, small: np.ndarray[Any, np.dtype[np.bool_]]
) -> tuple[Groups, list[GroupStyle]]:
    """Return the rows' groups: their labels, else the sides of the threshold, else one."""
    if labels is not None:
        groups = group_rows(labels, scores.size)
        return groups, [group_style(place) for place in range(len(groups))]
    codes = small.astype(np.intp)
    names = ("bulk", "small side") if small.any() else ("all rows",)
    return Groups(names, codes, np.bincount(codes)), list(_SIDES[: len(names)])
