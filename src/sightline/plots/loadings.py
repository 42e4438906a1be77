"""The columns that a direction is made of: signed bars, longest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from sklearn.utils.validation import check_is_fitted

from sightline._options import check_count
from sightline.estimators.tables import read_table
from sightline.plots.axes import FAINT, INK, as_scores, bare, given_or_new, plain
from sightline.scatter import scatter_of
from sightline.views import GroupStyle, group_style, main_columns, standard_weights

_POSITIVE, _NEGATIVE = group_style(0), group_style(1)


class LoadingsDisplay:
    """Bars of the columns that matter most for a direction, in standard units.

    A bar is what one standard deviation of the column adds to the score, in standard deviations of
    the score (`sightline.views.weights`). Negative bars have another colour and a hatch.

    Parameters
    ----------
    weights : (d,) signed weights.
    column_names : (d,) or None for numbers.
    most : how many columns are shown.

    Attributes
    ----------
    ax_, figure_ : where it was drawn.
    columns_ : positions of the columns that are shown, largest weight first.
    """

    def __init__(
        self, weights: Any, *, column_names: Sequence[object] | None = None, most: int = 12
    ) -> None:
        self.weights = as_scores(weights, "weights")
        if column_names is not None and len(column_names) != self.weights.size:
            raise ValueError(
                f"column_names has {len(column_names)} names; there are {self.weights.size} "
                "weights. Give one name a column."
            )
        names = range(self.weights.size) if column_names is None else column_names
        self.column_names = [str(name) for name in names]
        self.columns_ = main_columns(self.weights, check_count("most", most))
        self.ax_: Axes | None = None
        self.figure_: Figure | SubFigure | None = None

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        component: int = 0,
        column_names: Sequence[object] | None = None,
        ax: Axes | None = None,
        *,
        most: int = 12,
    ) -> Self:
        """Draw the columns of a direction of a fitted estimator, in units of the rows of `X`."""
        check_is_fitted(estimator)
        count = len(estimator.components_)
        check_count("component", component, at_least=0, at_most=count - 1)
        rows = read_table(estimator, X, reset=False)
        direction = estimator.components_[component : component + 1]
        (weights,) = standard_weights(direction, scatter_of(rows))
        if column_names is None:
            column_names = getattr(estimator, "feature_names_in_", None)
        return cls(weights, column_names=column_names, most=most).plot(ax)

    @classmethod
    def from_weights(
        cls,
        weights: Any,
        column_names: Sequence[object] | None = None,
        ax: Axes | None = None,
        *,
        most: int = 12,
    ) -> Self:
        """Draw `weights` (d,) that are there already."""
        return cls(weights, column_names=column_names, most=most).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw on `ax`, or on the axes of a new figure; return the display."""
        count = len(self.columns_)
        ax = given_or_new(ax, (5.6, 1.1 + 0.28 * max(count, 1)))
        shown = self.weights[self.columns_]
        for place, weight in enumerate(shown):
            style: GroupStyle = _POSITIVE if weight > 0 else _NEGATIVE
            ax.barh(
                place,
                weight,
                0.68,
                color=style.colour,
                hatch=style.hatch,
                edgecolor="white",
                linewidth=0.4,
            )
            ax.annotate(
                f"{weight:+.2f}",
                (weight, place),
                xytext=(4 if weight > 0 else -4, 0),
                textcoords="offset points",
                ha="left" if weight > 0 else "right",
                va="center",
                fontsize="small",
                color=INK,
            )
        ax.axvline(0, color=FAINT, linewidth=0.8)
        bare(ax, keep=("bottom",))
        ax.set_yticks(range(count), [plain(self.column_names[c]) for c in self.columns_])
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(count - 0.4, -0.6)
        reach = max(float(np.abs(shown).max(initial=0.0)), 1e-12)
        low, high = min(float(shown.min(initial=0.0)), 0), max(float(shown.max(initial=0.0)), 0)
        ax.set_xlim(low - 0.18 * reach * (low < 0), high + 0.18 * reach)
        ax.set_xlabel("Weight, in standard deviations")
        if count < np.count_nonzero(self.weights):
            total = int(np.count_nonzero(self.weights))
            ax.set_title(f"{count} of {total} columns", fontsize="small", color=FAINT, loc="right")
        self.ax_, self.figure_ = ax, ax.figure
        return self
