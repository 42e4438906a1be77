"""Draw docs/images/predicted-climb.png: predicted alignments against runs on planted rows.

Two runs of the paper's algorithm, long steps and then short ones, on fresh batches of n rows, from
the alignment of a row of the rare part. Run from the top of the repository:

    python docs/pictures/predicted_climb.py
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from sightline.ascent import paper_step_sizes
from sightline.datasets import BernoulliRademacher, ImbalancedClusters
from sightline.datasets.signals import MixtureSignal
from sightline.indices import make_index
from sightline.sphere import normalise, tangent
from sightline.sums import index_gradients
from sightline.theory import data_start_alignment, predicted_climb

OUT = Path(__file__).parents[1] / "images" / "predicted-climb.png"
RUNS, STEPS, SEED = 6, 12, 0
COLOURS = ("#0072b2", "#009e73", "#d55e00")
PANELS = (
    ("relu2", ImbalancedClusters(0.1), 128, paper_step_sizes(128, 0.1), (512, 1024, 4096)),
    ("kurtosis", BernoulliRademacher(0.1), 64, (0.2, 0.05), (1024, 4096, 16384)),
)


def climb(
    name: str,
    signal: MixtureSignal,
    etas: tuple[float, float],
    shape: tuple[int, int],
    rng: np.random.Generator,
) -> list[float]:
    """Return the alignments of one climb; u* is the first axis, the other columns are noise."""
    start = data_start_alignment(signal, shape[1])
    u = np.zeros((1, shape[1]))
    u[0, :2] = start, math.sqrt(1 - start**2)
    alignments = [start]
    for eta in np.repeat(etas, STEPS):
        X = rng.standard_normal(shape)
        X[:, 0] = signal.sample(shape[0], rng)[0]
        u = normalise(u + eta * tangent(u, index_gradients(make_index(name), u, X)))
        alignments.append(float(u[0, 0]))
    return alignments


def predict(
    name: str, signal: MixtureSignal, d: int, etas: tuple[float, float], n: int
) -> np.ndarray:
    """Return the predicted alignments of both runs, the second from the end of the first."""
    both = [predicted_climb(name, signal, n, d, step_size=etas[0], n_steps=STEPS).alignments]
    start = float(both[0][-1])
    second = predicted_climb(name, signal, n, d, step_size=etas[1], n_steps=STEPS, start=start)
    return np.concatenate((both[0], second.alignments[1:]))


def draw(axes: Axes, panel: tuple, rng: np.random.Generator) -> None:
    """Draw runs as thin lines and predictions as dashed ones."""
    name, signal, d, etas, batches = panel
    for colour, n in zip(COLOURS, batches, strict=True):
        for _ in range(RUNS):
            actual = climb(name, signal, etas, (n, d), rng)
            axes.plot(actual, color=colour, alpha=0.35, lw=0.7)
        axes.plot(predict(name, signal, d, etas, n), "--", color=colour, lw=2, label=f"n = {n:,}")
    axes.axvline(STEPS, color="#8a94a0", lw=0.8)
    axes.set(
        title=f"{name}, {type(signal).__name__}(p = {signal.p}), d = {d}",
        xlabel=f"step ({etas[0]:.2f}, then {etas[1]:.2f} long)",
        ylim=(0, 1.02),
    )
    axes.legend(loc="lower right", frameon=False, title="predicted, batches of")


def main() -> None:
    """Draw both panels into the file."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    FigureCanvasAgg(figure)
    rng = np.random.default_rng(SEED)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, panel in zip(panels, PANELS, strict=True):
        draw(axes, panel, rng)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("alignment <u, u*>")
    figure.savefig(OUT, dpi=80, metadata={"Software": None}, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    main()
