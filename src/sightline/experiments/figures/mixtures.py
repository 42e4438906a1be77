"""What the supplement's two pairs of maps share: mixtures of two normal clusters of unlike spread.

Each pixel is the mean of |<u_hat, u*>|, over the variance of the smaller cluster and one more
quantity; each method has a line of maps, with a column for each n.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure as Picture

from sightline._arrays import Array, to_numpy
from sightline.experiments.drawing import draw_map
from sightline.experiments.figure import Cell, Context, Finding, Row
from sightline.experiments.methods import METHODS, Problem, alignment, find_directions
from sightline.experiments.summary import select, values_of
from sightline.whitening import fit_whitening

ROWS = {"none": "raw rows", "exact": "whitened rows"}

OWN_ADDED = (
    "The library's adaptive solver is added, on fewer data sets, since a search without a find is "
    "long:"
)


def data_seed(cell: Cell, context: Context) -> int:
    """Return the seed of a cell's rows, which all methods share."""
    unlike = {"method", "whiten"}
    return context.seed_of("data", {key: cell[key] for key in cell if key not in unlike})


def measured(
    X: np.ndarray[Any, Any],
    planted: np.ndarray[Any, Any],
    cell: Cell,
    context: Context,
    *,
    p: float,
    own_index: str,
) -> list[Row]:
    """Return the alignment of a cell's method on rows that are whitened as the cell says."""
    rows: Array = context.put(X.astype(np.float32))
    whitening = fit_whitening(rows, cell["whiten"])
    problem = Problem(
        p=p,
        seed=context.seed_of("method", cell),
        adaptive_index=own_index,
        own_whitening="none",
    )
    found = find_directions(cell["method"], whitening.apply(rows), problem)
    back = whitening.column_weights(context.put(found[:1].astype(np.float32)))
    return [{"alignment": alignment(to_numpy(back), planted)}]


def draw_maps(summary: list[Row], x: str, x_label: str) -> Picture:
    """Draw maps over an entry `x` and the variance."""
    sizes = values_of(summary, "n")
    kinds = list(dict.fromkeys((row["method"], row["whiten"]) for row in summary))
    picture = Picture(
        figsize=(1.2 + 3.2 * len(sizes), 0.8 + 2.5 * len(kinds)), layout="constrained"
    )
    axes = picture.subplots(len(kinds), len(sizes), squeeze=False, sharex=True, sharey=True)
    for line, (method, whiten) in zip(axes, kinds, strict=True):
        for ax, n in zip(line, sizes, strict=True):
            image = _one_map(ax, select(summary, n=n, method=method, whiten=whiten), x)
            ax.set_title(f"{METHODS[method].label}, {ROWS[whiten]}, n = {n}", fontsize=9.5)
        line[0].set_ylabel("variance λ")
    for ax in axes[-1]:
        ax.set_xlabel(x_label)
    picture.colorbar(image, ax=axes, label="mean alignment |⟨û, u*⟩|", shrink=0.8)
    return picture


def _one_map(ax: Any, points: list[Row], x: str) -> Any:
    """Draw one map over places that need not be evenly spaced, and label these."""
    columns, lines = values_of(points, x), values_of(points, "lambda")
    means = np.full((len(lines), len(columns)), np.nan)
    for row in points:
        means[lines.index(row["lambda"]), columns.index(row[x])] = row["mean"]
    image = draw_map(ax, means, np.arange(len(columns)), np.arange(len(lines)))
    ax.set_xticks(range(len(columns)), [f"{value:g}" for value in columns], fontsize=8)
    ax.set_yticks(range(len(lines)), [f"{value:g}" for value in lines], fontsize=8)
    return image


def judge_own(summary: list[Row]) -> Finding:
    """Compare the library's own solver with ReLU2 as the paper runs it."""
    ours = mean_of(select(summary, method="adaptive"))
    paper = {
        whiten: mean_of(select(summary, method="relu2", whiten=whiten))
        for whiten in values_of(select(summary, method="relu2"), "whiten")
    }
    shown = ", ".join(f"ReLU2 on {ROWS[whiten]} {mean:.3f}" for whiten, mean in paper.items())
    return Finding(
        "(Ours) The adaptive solver recovers at least as much over the whole map",
        ours >= max(paper.values()),
        f"mean alignment over the map: adaptive {ours:.3f}, {shown}",
    )


def mean_of(points: list[Row]) -> float:
    """Return the mean alignment over pixels."""
    return float(np.mean([row["mean"] for row in points]))


def cost(cell: Cell) -> float:
    """Return how long a cell takes beside others."""
    return METHODS[cell["method"]].cost * float(cell["n"])


def of_kinds(cells: list[Cell], kinds: tuple[tuple[str, str], ...], own_sets: int) -> list[Cell]:
    """Return the cells for each method and whitening, of which the own solver has fewer sets."""
    return [
        {**cell, "method": method, "whiten": whiten}
        for cell in cells
        for method, whiten in kinds
        if method != "adaptive" or cell["set"] < own_sets
    ]
