"""An index value beside what the same search finds where there is nothing."""

from __future__ import annotations

from typing import Any, Self

from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import MaxNLocator
from sklearn.utils.validation import check_is_fitted

from sightline._options import check_count, check_number
from sightline.plots.axes import INK, as_scores, bare, given_or_new, plain
from sightline.views.bins import bin_scores
from sightline.views.palette import BULK, MARKED


class IndexNullDisplay:
    """Histogram of index values under the null, with the value that was found.

    The p-value counts the nulls that reach the value, p = (1 + #{null >= value}) / (1 + N).

    Parameters
    ----------
    value : the index value of a direction.
    null_values : (N,) what the search found on data without structure.
    name : what the index is called.

    Attributes
    ----------
    ax_, figure_ : where it was drawn.
    p_value_ : the p-value.
    """

    def __init__(self, value: Any, null_values: Any, *, name: str = "Index") -> None:
        self.value = check_number("value", value)
        self.null_values = as_scores(null_values, "null_values")
        self.name = name
        reached = int((self.null_values >= self.value).sum())
        self.p_value_ = (1 + reached) / (1 + self.null_values.size)
        self.ax_: Axes | None = None
        self.figure_: Figure | SubFigure | None = None

    @classmethod
    def from_estimator(
        cls, estimator: Any, component: int = 0, ax: Axes | None = None, *, name: str | None = None
    ) -> Self:
        """Draw a direction of an estimator that was fitted with `significance`.

        Values are compared at variance 1: the directions of other tables have other scales.
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "null_values_"):
            raise ValueError(
                f"this {type(estimator).__name__} has no null_values_; fit it with "
                "significance=99, which repeats the search where there is nothing to find."
            )
        values = estimator.standard_values_
        check_count("component", component, at_least=0, at_most=len(values) - 1)
        title = f"Index of direction {component + 1}, at variance 1" if name is None else name
        return cls(float(values[component]), estimator.null_values_, name=title).plot(ax)

    @classmethod
    def from_values(
        cls, value: Any, null_values: Any, ax: Axes | None = None, *, name: str = "Index"
    ) -> Self:
        """Draw `value` against `null_values` (N,)."""
        return cls(value, null_values, name=name).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on the axes of a new figure; return the display."""
        ax = given_or_new(ax, (5.6, 3.0))
        bins = bin_scores(self.null_values)
        width = bins.edges[1] - bins.edges[0]
        ax.bar(bins.centres, bins.counts, width, color=BULK, edgecolor="white", linewidth=0.4)
        top = float(bins.counts.max()) * 1.3
        ax.vlines(self.value, 0, top, color=MARKED, linewidth=2)
        low, high = min(bins.edges[0], self.value), max(bins.edges[-1], self.value)
        room = 0.06 * (high - low)
        ax.set_xlim(low - room, high + room)
        ax.set_ylim(0, top)
        on_the_right = self.value < (low + high) / 2
        ax.annotate(
            f"found {self.value:.4g}\np = {self.p_value_:.3g}",
            (self.value, top),
            xytext=(6 if on_the_right else -6, -2),
            textcoords="offset points",
            ha="left" if on_the_right else "right",
            va="top",
            color=INK,
        )
        bare(ax)
        ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        ax.set_xlabel(plain(self.name, 60))
        ax.set_ylabel(f"Searches of {self.null_values.size:,}")
        self.ax_, self.figure_ = ax, ax.figure
        return self
