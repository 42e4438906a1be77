"""Histograms of Fashion-MNIST along four directions of an index, coloured by class, n = 600.

A method returns hundreds of directions of which many are one; four are drawn that keep 15
degrees from each other, best first.
"""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
from matplotlib.figure import Figure as Picture

from sightline.experiments.figure import Cell, Context, Figure, Finding, Row, grid
from sightline.experiments.figures import real_rows
from sightline.experiments.methods import METHODS
from sightline.experiments.summary import select, values_of
from sightline.plots.axes import bare
from sightline.selection import distinct
from sightline.split import split_in_two
from sightline.views.palette import group_style

N_SHOWN = 4
"""Histograms of a method."""

_DEGREES = 15.0
"""Angle that the directions shown keep from each other, in the space of the components."""

_BINS = 40

_CUT = 0.25
"""Part of the tallest bar at which the axis ends: the small groups are what is to be seen."""


def measure(cell: Cell, context: Context) -> list[Row]:
    """Return the scores of all training rows along the directions shown, at variance 1."""
    rows = real_rows.real_rows(cell, context)
    found = real_rows.directions(cell, rows, context, cell["n_starts"]).astype(np.float64)
    kept, _ = distinct(found, _DEGREES, N_SHOWN)
    scores = rows.train.astype(np.float64) @ found[kept].T
    scores = (scores - scores.mean(axis=0)) / scores.std(axis=0)
    scores *= np.sign(np.mean(scores**3, axis=0))  # the heavier tail to the right
    return [
        {"direction": place, "row": row, "label": int(label), "score": float(score)}
        for place, column in enumerate(scores.T, start=1)
        for row, (label, score) in enumerate(zip(rows.train_labels, column, strict=True))
    ]


def summarise(rows: list[Row]) -> list[Row]:
    """Return for each histogram its small side, the class that prevails in it, and kurtosis."""
    summary = []
    for method in values_of(rows, "method"):
        of_method = select(rows, method=method)
        for direction in values_of(of_method, "direction"):
            points = select(of_method, direction=direction)
            scores = np.array([row["score"] for row in points])
            labels = np.array([row["label"] for row in points])
            small = split_in_two(scores).small
            label, count = Counter(labels[small].tolist()).most_common(1)[0]
            summary.append(
                {
                    "method": method,
                    "direction": direction,
                    "rows": small.size,
                    "small_side": int(small.sum()),
                    "main_label": real_rows.LABELS[points[0]["data"]][label],
                    "purity": count / int(small.sum()),
                    "share_of_label": count / int((labels == label).sum()),
                    "kurtosis": float(np.mean(scores**4)),
                }
            )
    return summary


def draw(rows: list[Row], summary: list[Row]) -> Picture:
    """Draw stacked histograms, a line of four for each method."""
    methods, names = values_of(rows, "method"), real_rows.LABELS[rows[0]["data"]]
    picture = Picture(figsize=(11, 0.9 + 2.1 * len(methods)), layout="constrained")
    axes = picture.subplots(len(methods), N_SHOWN, squeeze=False)
    for line, method in zip(axes, methods, strict=True):
        line[0].set_ylabel(METHODS[method].label)
        for place, ax in enumerate(line, start=1):
            points = select(rows, method=method, direction=place)
            if not points:
                ax.axis("off")
                continue
            scores = np.array([row["score"] for row in points])
            labels = np.array([row["label"] for row in points])
            kinds = [scores[labels == label] for label in range(len(names))]
            styles = [group_style(label) for label in range(len(names))]
            _, _, bars = ax.hist(
                kinds,
                bins=_BINS,
                stacked=True,
                histtype="stepfilled",  # one polygon a class: bars by the thousand are slow
                color=[style.colour for style in styles],
                label=names,
                linewidth=0,
            )
            for patches, style in zip(bars, styles, strict=True):
                for patch in patches:
                    patch.set_hatch(style.hatch)
            tallest = max(patch.get_path().vertices[:, 1].max() for kind in bars for patch in kind)
            ax.set_ylim(0, _CUT * tallest)
            told = select(summary, method=method, direction=place)[0]
            ax.set_title(
                f"{told['small_side']} rows apart, {told['purity']:.0%} {told['main_label']}",
                fontsize=8.5,
            )
            ax.tick_params(labelsize=7)
            bare(ax)
    handles, labels_shown = axes[0][0].get_legend_handles_labels()
    picture.legend(handles, labels_shown, loc="outside right center", frameon=False, fontsize=8.5)
    picture.supxlabel(
        "score along the direction, in standard deviations; bars are cut at a quarter of the "
        "tallest, so that small groups show",
        fontsize=9,
    )
    return picture


def judge(summary: list[Row]) -> list[Finding]:
    """Say whether relu2's small sides are of one class, and kurtosis's scores sparse."""
    relu2, kurtosis = (select(summary, method=name) for name in ("relu2", "kurtosis"))
    small = all(row["small_side"] < _SMALL * row["rows"] for row in relu2)
    pure = float(np.median([row["purity"] for row in relu2]))
    shown = ", ".join(
        f"{row['small_side']} rows, {row['purity']:.0%} {row['main_label']}" for row in relu2
    )
    heavy = [row["kurtosis"] for row in kurtosis]
    ours = select(summary, method="adaptive")
    our_purity = float(np.median([row["purity"] for row in ours]))
    return [
        Finding(
            "ReLU2's projections have a small cluster that is mostly of one class",
            small and pure > 0.5,
            f"median purity {pure:.0%}: {shown}",
        ),
        Finding(
            "Kurtosis's projections have many rows near zero and a few far out",
            min(heavy) > 3.0,
            "fourth moments at variance 1, where a normal law has 3: "
            + ", ".join(f"{value:.1f}" for value in heavy),
        ),
        Finding(
            "(Ours) The adaptive solver's small clusters are at least as pure as ReLU2's",
            our_purity >= pure,
            f"median purity {our_purity:.0%} and {pure:.0%}",
        ),
    ]


_SMALL = 0.4
"""Part of the rows up to which a cluster counts as small."""


def _cells(n: int, d: int, starts: int) -> list[Cell]:
    return grid(
        data=["fashion"],
        n=[n],
        d=[d],
        n_starts=[starts],
        set=[0],
        method=("relu2", "kurtosis", "adaptive"),
    )


FIGURES = (
    Figure(
        name="histograms-fashion",
        title="Fashion-MNIST along four directions of an index, n = 600",
        claim=(
            "ReLU2's projections show two clusters of which the smaller is mostly of one class; "
            "Kurtosis's have most rows near zero and a few away from it."
        ),
        cells={
            "smoke": _cells(120, 12, 40),
            "quick": _cells(600, 100, real_rows.N_STARTS),
            "paper": _cells(600, 100, real_rows.N_STARTS),
        },
        measure=measure,
        summarise=summarise,
        draw=draw,
        judge=judge,
        deviations=(
            *real_rows.SETTINGS,
            "The paper does not say how its four directions were chosen: here they are the best "
            "by psi that keep 15 degrees from each other among the principal components.",
        ),
        prepare=partial(real_rows.prepare, "fashion"),
        cost=lambda cell: METHODS[cell["method"]].cost,
    ),
)
