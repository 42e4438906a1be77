"""What one projection says about labels nobody showed it: the paper's box plots on real data.

The 30 best directions of a method each get the threshold of largest information gain on the
training rows; the gain that is drawn is that of the held-out rows.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from matplotlib.figure import Figure as Picture

from sightline.experiments.figure import Cell, Context, Figure, Finding, Row, grid
from sightline.experiments.figures import real_rows
from sightline.experiments.methods import GRADIENT, METHODS
from sightline.experiments.summary import select, summarise_by, values_of
from sightline.information import best_thresholds, information_gain
from sightline.plots.axes import FAINT, INK, bare
from sightline.views.palette import BULK, MARKED

N_DIRECTIONS = 30
"""Directions of a method: one box."""

_COMPARED = (*GRADIENT, "cov4max", "cov4min", "max-skew", "adaptive")


def measure(cell: Cell, context: Context) -> list[Row]:
    """Return the held-out gain of each direction of one method."""
    rows = real_rows.real_rows(cell, context)
    found = real_rows.directions(cell, rows, context, min(N_DIRECTIONS, cell["d"])).astype(
        np.float64
    )
    train = rows.train.astype(np.float64) @ found.T
    thresholds = best_thresholds(train, rows.train_labels)
    held_out = rows.test.astype(np.float64) @ found.T
    gains = information_gain(held_out, rows.test_labels, thresholds)
    on_train = information_gain(train, rows.train_labels, thresholds)
    return [
        {"direction": place, "gain": float(gain), "training_gain": float(seen)}
        for place, (gain, seen) in enumerate(zip(gains, on_train, strict=True), start=1)
    ]


def summarise(rows: list[Row]) -> list[Row]:
    """Return the quartiles of each box."""
    return summarise_by(rows, ("data", "n", "method"), "gain")


def draw(rows: list[Row], _: list[Row]) -> Picture:
    """Draw a box a method, a panel for each n, with every direction as a point."""
    sizes, methods = values_of(rows, "n"), values_of(rows, "method")
    picture = Picture(figsize=(1.0 + 4.6 * len(sizes), 4.6), layout="constrained")
    axes = picture.subplots(1, len(sizes), squeeze=False, sharey=True)[0]
    for ax, n in zip(axes, sizes, strict=True):
        boxes = [[row["gain"] for row in select(rows, n=n, method=name)] for name in methods]
        drawn = ax.boxplot(boxes, widths=0.6, showfliers=False, patch_artist=True)
        for name, box, middle in zip(methods, drawn["boxes"], drawn["medians"], strict=True):
            own = METHODS[name].family == "own"
            box.set(facecolor=MARKED if own else BULK, alpha=0.35, edgecolor=INK)
            middle.set(color=INK, linewidth=2)
        for place, gains in enumerate(boxes, start=1):
            beside = place + np.linspace(-0.18, 0.18, len(gains))
            ax.plot(beside, gains, ".", color=FAINT, markersize=3, zorder=3)
        labels = [METHODS[name].label for name in methods]
        ax.set_xticks(range(1, len(methods) + 1), labels, rotation=40, ha="right", fontsize=8.5)
        ax.set_title(f"{real_rows.TITLES[rows[0]['data']]}, n = {n}", loc="left", fontsize=11)
        bare(ax)
    axes[0].set_ylim(bottom=-0.02)  # after all boxes: it ends the scaling of the axis they share
    axes[0].set_ylabel("held-out information gain (bits)")
    return picture


def judge(summary: list[Row]) -> list[Finding]:
    """Compare the paper's methods by their medians at the least and the largest n."""
    least, largest = min(values_of(summary, "n")), max(values_of(summary, "n"))
    few, many = _medians(summary, least), _medians(summary, largest)
    best = max(few, key=lambda name: few[name])
    findings = [
        Finding(
            f"At n = {least} ReLU2 has the largest median gain", best == "relu2", _ranking(few)
        ),
        Finding(
            f"At n = {largest} AbsMax passes ReLU2",
            many["absmax"] > many["relu2"] if largest > least else None,
            _ranking(many),
        ),
        Finding(
            "Kurtosis does about as well as Abs",
            all(
                abs(at["kurtosis"] - at["abs"]) <= _CLOSE * max(at.values()) for at in (few, many)
            ),
            "; ".join(
                f"n = {n}: {at['kurtosis']:.3f} and {at['abs']:.3f}"
                for n, at in ((least, few), (largest, many))
            ),
        ),
    ]
    ours = {n: select(summary, n=n, method="adaptive")[0]["median"] for n in (least, largest)}
    evidence = "; ".join(
        f"n = {n}: {ours[n]:.3f}, and {max(at.values()):.3f} of the best other"
        for n, at in ((least, few), (largest, many))
    )
    claim = "(Ours) The adaptive solver has the largest median gain at the least n"
    return [*findings, Finding(claim, ours[least] > max(few.values()), evidence)]


_CLOSE = 0.15
"""Part of the best median within which two medians count as about the same."""


def _medians(summary: list[Row], n: int) -> dict[str, float]:
    return {
        row["method"]: row["median"] for row in select(summary, n=n) if row["method"] != "adaptive"
    }


def _ranking(medians: dict[str, float]) -> str:
    ranked = sorted(medians, key=lambda name: -medians[name])
    return "medians: " + ", ".join(f"{METHODS[name].label} {medians[name]:.3f}" for name in ranked)


def cost(cell: Cell) -> float:
    """Return how long a cell takes beside others."""
    return METHODS[cell["method"]].cost * float(cell["n"])


def _cells(
    data: str,
    n: tuple[int, ...],
    methods: tuple[str, ...],
    d: int = 100,
    starts: int = real_rows.N_STARTS,
) -> list[Cell]:
    return grid(data=[data], n=n, d=[d], n_starts=[starts], set=[0], method=methods)


def _figure(data: str, few: int, some: int, all_rows: int, shown: str) -> Figure:
    smoke = ("relu2", "kurtosis", "abs", "absmax", "cov4max", "adaptive")
    return Figure(
        name=f"information-{data}",
        title=f"{shown}: held-out information gain of the 30 best directions",
        claim=(
            "With few rows ReLU2 finds the directions that say most about the labels; with all "
            "rows AbsMax passes it; Kurtosis does about as well as Abs."
        ),
        cells={
            "smoke": _cells(data, (120,), smoke, d=12, starts=40),
            "quick": _cells(data, (few, some), _COMPARED),
            "paper": _cells(data, (few, all_rows), _COMPARED),
        },
        measure=measure,
        summarise=summarise,
        draw=draw,
        judge=judge,
        deviations=real_rows.SETTINGS,
        prepare=partial(real_rows.prepare, data),
        cost=cost,
    )


FIGURES = (
    _figure("fashion", 600, 10000, 60000, "Fashion-MNIST"),
    _figure("har", 300, 2500, 7352, "Human activity"),
)
