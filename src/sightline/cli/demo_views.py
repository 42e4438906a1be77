"""What `sightline demo` looks along: the best column, the best component, the direction found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from matplotlib.figure import Figure
from scipy import linalg

from sightline.plots import ProjectionDisplay
from sightline.split import split_in_two

Host: TypeAlias = np.ndarray


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
    """Write a histogram of each view, side by side; rows are coloured by what only we know."""
    figure = Figure(figsize=(12, 3.6), layout="constrained")
    labels = np.where(hidden, "hidden", "bulk")
    for view, ax in zip(views, figure.subplots(1, len(views), sharey=True), strict=True):
        threshold = view.threshold if view is views[-1] else None
        ProjectionDisplay.from_scores(view.scores, labels, ax, threshold=threshold)
        ax.set_title(view.name, fontsize=11)
        ax.set_xlabel(f"hidden among the {hidden.sum()} furthest out: {view.hits}")
        if view is not views[0]:
            ax.set_ylabel("")
    figure.savefig(path, dpi=90)
