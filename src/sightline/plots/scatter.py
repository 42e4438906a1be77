"""Scores along two directions: every row as a point, or many rows in bins."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from sightline._options import check_count
from sightline.plots.axes import as_scores, bare, given_or_new, name_of, plain, scores_of
from sightline.views.bins import Floats, view_range
from sightline.views.groups import Groups, group_rows
from sightline.views.palette import BULK, GroupStyle, group_style

MOST_POINTS = 3000
"""Rows that are drawn as points; more are counted in bins."""

_CELLS = 160
"""Bins on either axis."""

_ROOM = 0.03
"""Left free on every side of the bins, as a part of their range."""

_PALEST = 0.25
"""Opacity of a bin with one row; the fullest bin of its group has 1."""


class ScatterDisplay:
    """Scores along two directions, coloured by label.

    Up to 3000 rows are points, each group with its own marker, small groups on top. More rows are
    counted in bins: a bin is the darker the more rows of its group it has, on a logarithmic scale.

    Parameters
    ----------
    x, y : (n,) finite numbers.
    labels : (n,) one a row, of any kind, or None.
    x_name, y_name : what the axes are called.

    Attributes
    ----------
    ax_, figure_ : where it was drawn.
    """

    def __init__(
        self,
        x: Any,
        y: Any,
        *,
        labels: Any = None,
        x_name: str = "Score 1",
        y_name: str = "Score 2",
    ) -> None:
        self.x: Floats = as_scores(x, "x")
        self.y: Floats = as_scores(y, "y")
        if self.x.size != self.y.size:
            raise ValueError(f"x has {self.x.size} scores and y {self.y.size}; give one a row.")
        self.x_name, self.y_name = x_name, y_name
        self.groups, self.styles = styled_groups(labels, self.x.size)
        self.ax_: Axes | None = None
        self.figure_: Figure | SubFigure | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        components: tuple[int, int] = (0, 1),
        labels: Any = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the scores of the rows of `X` along two directions of a fitted estimator."""
        check_count("n_components found", len(estimator.components_), at_least=2)
        x, y = scores_of(estimator, X, components)
        x_name, y_name = (name_of(estimator, component) for component in components)
        return cls(x, y, labels=labels, x_name=x_name, y_name=y_name).plot(ax)

    @classmethod
    def from_scores(
        cls,
        x: Any,
        y: Any,
        labels: Any = None,
        ax: Axes | None = None,
        *,
        x_name: str = "Score 1",
        y_name: str = "Score 2",
    ) -> Self:
        """Draw scores `x` and `y` (n,) that are there already."""
        return cls(x, y, labels=labels, x_name=x_name, y_name=y_name).plot(ax)

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> Self:
        """Draw on `ax`, or on the axes of a new figure; return the display."""
        ax = given_or_new(ax, (5.6, 4.8))
        if self.x.size <= MOST_POINTS:
            self._draw_points(ax)
        else:
            self._draw_bins(ax)
        bare(ax)
        ax.set_xlabel(plain(self.x_name, 60))
        ax.set_ylabel(plain(self.y_name, 60))
        if legend and len(self.groups) > 1:
            draw_legend(ax, self.groups, self.styles, anchor=(1.0, 1.0))
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_points(self, ax: Axes) -> None:
        size = 26 if self.x.size <= 300 else 12
        for place in self.groups.largest_first:
            rows = self.groups.codes == place
            ax.scatter(
                self.x[rows],
                self.y[rows],
                s=size,
                c=self.styles[place].colour,
                marker=self.styles[place].marker,
                linewidths=0.3,
                edgecolors="white",
            )

    def _draw_bins(self, ax: Axes) -> None:
        """Lay one picture a group over the other, the group with the fewest rows on top."""
        spans = [view_range(self.x), view_range(self.y)]
        for place in self.groups.largest_first:
            rows = self.groups.codes == place
            inside = (np.clip(self.x[rows], *spans[0]), np.clip(self.y[rows], *spans[1]))
            counts, _, _ = np.histogram2d(*inside, bins=_CELLS, range=spans)
            ax.imshow(
                _shaded(counts.T, self.styles[place].colour),
                extent=(*spans[0], *spans[1]),
                origin="lower",
                aspect="auto",
                interpolation="nearest",
                zorder=2,
            )
        ax.set_xlim(_with_room(spans[0]))
        ax.set_ylim(_with_room(spans[1]))


def _with_room(span: tuple[float, float]) -> tuple[float, float]:
    room = _ROOM * (span[1] - span[0])
    return span[0] - room, span[1] + room


def styled_groups(labels: Any, n_rows: int) -> tuple[Groups, list[GroupStyle]]:
    """Return the groups that labels make, or one of all rows, and how each looks."""
    if labels is None:
        everybody = Groups(("all rows",), np.zeros(n_rows, dtype=np.intp), np.array([n_rows]))
        return everybody, [GroupStyle(BULK, "-", "o", "")]
    groups = group_rows(labels, n_rows)
    return groups, [group_style(place) for place in range(len(groups))]


def draw_legend(
    place: Axes | Figure,
    groups: Groups,
    styles: list[GroupStyle],
    anchor: tuple[float, float] | None = None,
) -> None:
    """Name the groups with their counts, in the empty corner of a figure or beside axes."""
    handles = [
        Line2D([], [], color=style.colour, marker=style.marker, linestyle="", markersize=6)
        for style in styles
    ]
    legend = place.legend(
        handles,
        ["."] * len(handles),  # a name that starts with an underscore would be left out
        loc="upper right" if anchor is None else "upper left",
        bbox_to_anchor=anchor,
        frameon=False,
        fontsize="small",
        handletextpad=0.2,
    )
    for text, name, count in zip(legend.get_texts(), groups.names, groups.counts, strict=True):
        text.set_text(f"{plain(name)}  {count:,}")


def _shaded(counts: Floats, colour: str) -> Floats:
    """Return a picture (r, c, 4) of one colour, its opacity the logarithm of the counts."""
    picture = np.zeros((*counts.shape, 4))
    picture[..., :3] = to_rgb(colour)
    most = max(float(np.log1p(counts.max())), 1e-9)
    depth = np.log1p(counts) / most
    picture[..., 3] = np.where(counts > 0, _PALEST + (1 - _PALEST) * depth, 0.0)
    return picture
