"""Draw docs/images/cost.png from docs/results/bench-cost.json: time against rows, columns, starts.

Run from the top of the repository:

    python docs/pictures/cost.py
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from sightline.benchmarking.scaling import BASE, slope

DOCS = Path(__file__).parents[1]
OUT = DOCS / "images" / "cost.png"
COLOUR, GUIDE = "#0072b2", "#999999"


def main() -> None:
    """Draw the picture."""
    measured = json.loads((DOCS / "results" / "bench-cost.json").read_text())
    rows = measured["benchmarks"]["cost"]["rows"]
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    FigureCanvasAgg(figure)
    for axes, axis in zip(figure.subplots(1, len(BASE), sharey=True), BASE, strict=True):
        line = [row for row in rows if row["axis"] == axis]
        sizes = np.array([row[axis] for row in line], dtype=float)
        seconds = np.array([row["seconds"] for row in line])
        middle = np.exp(np.log(seconds / sizes).mean())
        axes.loglog(sizes, middle * sizes, "--", color=GUIDE, linewidth=1, label="slope 1")
        label = f"measured, slope {slope(sizes, seconds):.2f}"
        axes.loglog(sizes, seconds, "o-", color=COLOUR, label=label)
        others = ", ".join(f"{value} {name}" for name, value in BASE.items() if name != axis)
        axes.set_title(others, fontsize=9)
        axes.set_xlabel(axis)
        axes.set_xticks(sizes, [f"{int(size)}" for size in sizes], fontsize=8)
        axes.minorticks_off()
        axes.legend(frameon=False, fontsize=8)
        axes.spines[["top", "right"]].set_visible(False)
        if axes.get_subplotspec().is_first_col():
            axes.set_ylabel("processor seconds")
    figure.savefig(OUT, dpi=120)


if __name__ == "__main__":
    main()
