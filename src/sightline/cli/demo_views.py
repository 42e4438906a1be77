"""What `sightline demo` looks along: the best column, the best component, the direction found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from matplotlib.figure import Figure
from scipy import linalg

from sightline.split import split_in_two

Host: TypeAlias = np.ndarray

_BULK, _HIDDEN = "#9ecae1", "#d55e00"
"""Light blue and vermilion: apart for colour-blind eyes, and light and dark in grey."""

_BINS = 60


@dataclass(frozen=True)
class View:
    """Scores (n,) along one direction, and how much of the hidden group they show.

    Attributes
    ----------
    name : of the direction, for people.
    scores : centred, with variance 1, hidden rows on the positive side.
    hits : hidden rows among the furthest out, as many as there are hidden rows.
    separation : the distance between the groups over their pooled standard deviation.
    threshold : where the scores part in two.
    """

    name: str
    scores: Host
    hits: int
    separation: float
    threshold: float


def look(X: Host, found: Host, hidden: Host) -> list[View]:
    """Return the views along the best column, the best principal component, and `found`.

    Column and component are chosen with the hidden rows in hand: no other one of them shows more.
    """
    centred = X - X.mean(axis=0)
    loadings = linalg.svd(centred, full_matrices=False)[2]
    return [
        _best("columns", centred, hidden),
        _best("principal components", centred @ loadings.T, hidden),
        _view("direction found", found, hidden),
    ]


def _best(kind: str, candidates: Host, hidden: Host) -> View:
    name = f"best of {candidates.shape[1]} {kind}"
    views = [_view(name, scores, hidden) for scores in candidates.T]
    return max(views, key=lambda view: view.separation)


def _view(name: str, scores: Host, hidden: Host) -> View:
    standard = (scores - scores.mean()) / scores.std()
    inside, outside = standard[hidden], standard[~hidden]
    gap = float(inside.mean() - outside.mean())
    standard = standard if gap >= 0 else -standard
    share = hidden.mean()
    pooled = float(np.sqrt(share * inside.var() + (1 - share) * outside.var()))
    count = int(hidden.sum())
    furthest = np.argpartition(-standard, count - 1)[:count]
    return View(
        name,
        standard,
        int(hidden[furthest].sum()),
        abs(gap) / pooled,
        split_in_two(standard).threshold,
    )


def draw(views: list[View], hidden: Host, path: Path) -> None:
    """Write one histogram a view side by side, the hidden rows in their own colour and hatch."""
    figure = Figure(figsize=(10, 3.2), layout="constrained")
    axes = figure.subplots(1, len(views), sharey=True)
    for view, axis in zip(views, axes, strict=True):
        edges = np.linspace(view.scores.min(), view.scores.max(), _BINS + 1)
        axis.hist(view.scores[~hidden], edges, color=_BULK, label="other rows")
        axis.hist(
            view.scores[hidden],
            edges,
            color=_HIDDEN,
            edgecolor="black",
            linewidth=0.4,
            hatch="////",
            label="hidden rows",
        )
        axis.set_title(view.name, fontsize=11)
        axis.set_xlabel(f"hidden among the {hidden.sum()} furthest out: {view.hits}")
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("rows")
    axes[-1].axvline(views[-1].threshold, color="black", linestyle="--", linewidth=1)
    axes[-1].legend(frameon=False)
    figure.savefig(path, dpi=100)
