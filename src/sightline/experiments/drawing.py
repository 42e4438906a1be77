"""What the pictures of all figures share: styles of methods, maps in grey, saving."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from sightline.experiments.methods import METHODS
from sightline.experiments.store import write_safely
from sightline.plots.axes import INK
from sightline.views.palette import group_style

_FILLED = 6
"""Lines and markers come round after so many styles; from then on markers are hollow."""


def method_style(name: str) -> dict[str, Any]:
    """Return the line of a method: its own colour, dashes and marker; ours is black and thick."""
    label = METHODS[name].label
    if METHODS[name].family == "own":
        return {
            "label": label,
            "color": INK,
            "linestyle": "-",
            "linewidth": 2.4,
            "marker": "*",
            "markersize": 9,
        }
    place = list(METHODS).index(name)
    style = group_style(place)
    return {
        "label": label,
        "color": style.colour,
        "linestyle": style.line,
        "linewidth": 1.5,
        "marker": style.marker,
        "markersize": 5,
        "markerfacecolor": style.colour if place < _FILLED else "white",
    }


def draw_map(ax: Axes, values: Any, x: Any, y: Any) -> Any:
    """Draw alignments (len(y), len(x)) as the paper does: white is 1, black is 0.

    `x` and `y` are the values at the pixels' middles, evenly spaced on the axes that are wanted.
    """
    half_x = (x[1] - x[0]) / 2 if len(x) > 1 else 0.5
    half_y = (y[1] - y[0]) / 2 if len(y) > 1 else 0.5
    return ax.imshow(
        values,
        cmap="gray",
        vmin=0,
        vmax=1,
        origin="lower",
        aspect="auto",
        interpolation="nearest",
        extent=(x[0] - half_x, x[-1] + half_x, y[0] - half_y, y[-1] + half_y),
    )


def save_picture(picture: Picture, folder: Path) -> None:
    """Write `figure.png` and `figure.pdf`; equal pictures give equal bytes."""
    for name, options in (
        ("figure.png", {"dpi": 150, "metadata": {"Software": None}}),
        ("figure.pdf", {"metadata": {"CreationDate": None, "Producer": None, "Creator": None}}),
    ):
        buffer = io.BytesIO()
        picture.savefig(buffer, format=name.rpartition(".")[2], facecolor="white", **options)
        write_safely(folder / name, buffer.getvalue())
