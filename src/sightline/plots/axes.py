"""What every picture starts from: axes, text from data made harmless, and estimators' scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from sklearn.utils.validation import check_is_fitted

from sightline._arrays import to_numpy
from sightline._options import check_count
from sightline.views.bins import Floats

INK = "#22262b"
"""Lines that say something."""

FAINT = "#6b737c"
"""Notes and frames, dark enough to read on white."""

_LONGEST = 28
"""Characters of a name that are shown."""


def given_or_new(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """Return `ax`, or the axes of a new figure of `size` inches."""
    if ax is not None:
        return ax
    _, new = plt.subplots(figsize=size, layout="constrained")
    return new


def bare(ax: Axes, *, keep: Sequence[str] = ("left", "bottom")) -> None:
    """Take away the frame but for the sides that carry ticks, and colour those faintly."""
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)
        spine.set_color(FAINT)
        spine.set_linewidth(0.8)
    ax.tick_params(colors=FAINT, labelcolor=INK, width=0.8, length=3)
    ax.xaxis.label.set_color(INK)
    ax.yaxis.label.set_color(INK)


def plain(text: object, longest: int = _LONGEST) -> str:
    r"""Return text from data as it is to be read: one line, not too long, `$` no formula."""
    line = " ".join(str(text).split())
    line = "".join(character if character.isprintable() else "�" for character in line)
    if len(line) > longest:
        line = line[: longest - 1].rstrip() + "…"
    return line.replace("$", r"\$")


def scores_of(estimator: Any, X: Any, components: Sequence[int]) -> list[Floats]:
    """Return the scores (n,) of the rows of `X` along some of an estimator's directions."""
    check_is_fitted(estimator)
    for component in components:
        check_count("component", component, at_least=0, at_most=len(estimator.components_) - 1)
    scores = to_numpy(estimator.transform(X))
    return [as_scores(scores[:, component]) for component in components]


def as_scores(scores: Any, name: str = "scores") -> Floats:
    """Return `scores` as a list of finite numbers, or say what is wrong with them."""
    values = np.asarray(to_numpy(scores), dtype=np.float64)
    if values.ndim != 1 or values.size == 0:
        raise ValueError(f"{name} has shape {values.shape}; it must be a list of numbers, (n,).")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} contains NaN or infinity; leave those rows out.")
    return values


def name_of(estimator: Any, component: int) -> str:
    """Return what an axis along a direction is called."""
    total = len(estimator.components_)
    return "Score along the direction" if total == 1 else f"Score along direction {component + 1}"
