"""Draw docs/images/planted-test-errors.png: errors of the paper's test Psi against the rows.

Left: `planted_test` at its own level, on planted rows and on normal ones. Right: the least sum of
both errors over all thresholds of the same statistic, at the smallest p that the corollary allows.
The direction has the alignment 0.9. Run from the top of the repository:

    python docs/pictures/planted_test_errors.py
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from sightline.datasets import ImbalancedClusters
from sightline.indices import ReLU2
from sightline.significance import planted_test
from sightline.significance.direction_test import standard_values

OUT = Path(__file__).parents[1] / "images" / "planted-test-errors.png"
SEED, ALIGNMENT, D, LEVEL = 0, 0.9, 64, 0.05
TABLES, SAMPLES, COUNTED = 4000, 20_000, 5
COLOURS = ("#0072b2", "#009e73", "#d55e00")
ROWS_AT_LEVEL = {0.125: (8, 16, 24, 32, 40, 48, 56, 64), 0.3: (16, 32, 64, 96, 128, 160, 192)}
ROWS_AT_BEST = {16: (4, 8, 12, 16, 24, 32), 64: (8, 16, 24, 32, 48, 64), 256: (16, 32, 48, 64, 96)}


def planted_rows(n: int, p: float, rng: np.random.Generator) -> np.ndarray:
    """Draw rows whose first column is planted: (n, D), the others normal."""
    X = rng.standard_normal((n, D))
    X[:, 0] = ImbalancedClusters(p).sample(n, rng)[0]
    return X


def rejection_rate(n: int, p: float | None, rng: np.random.Generator) -> float:
    """Return how often `planted_test` rejects; p is None for rows without structure."""
    u = np.zeros(D)
    u[:2] = ALIGNMENT, math.sqrt(1 - ALIGNMENT**2)
    rejected = 0
    for _ in range(TABLES):
        X = rng.standard_normal((n, D)) if p is None else planted_rows(n, p, rng)
        rejected += planted_test(X, u, level=LEVEL, n_null=99, random_state=rng).rejected
    return rejected / TABLES


def least_sum_of_errors(n: int, p: float, rng: np.random.Generator) -> float:
    """Return the least sum of both errors, the scores being a nu + sqrt(1 - a^2) g."""
    noise = rng.standard_normal((2, n, SAMPLES))
    nu = ImbalancedClusters(p).sample(n * SAMPLES, rng)[0].reshape(n, SAMPLES)
    planted = ALIGNMENT * nu + math.sqrt(1 - ALIGNMENT**2) * noise[1]
    null, other = (np.sort(standard_values(ReLU2(), scores)) for scores in (noise[0], planted))
    thresholds = np.concatenate((null, other))
    first = 1 - np.searchsorted(null, thresholds) / SAMPLES
    return float(np.min(first + np.searchsorted(other, thresholds) / SAMPLES))


def draw_errors(
    axes: Axes, rates: dict[int, float], samples: int, d: int, style: tuple[str, str]
) -> None:
    """Draw errors over n / d, and the exponential through those that came up often enough."""
    colour, label = style
    seen = np.array([(n / d, rate) for n, rate in rates.items() if rate * samples >= COUNTED])
    slope, constant = np.polyfit(seen[:, 0], np.log(seen[:, 1]), 1)
    print(f"{label}: {', '.join(f'{x:.3g}: {e:.3g}' for x, e in seen)}; rate {-slope:.2f}")
    axes.semilogy(seen[:, 0], seen[:, 1], "o", color=colour, label=f"{label}: {-slope:.1f}")
    ends = np.array([0, seen[-1, 0] * 1.05])
    axes.semilogy(ends, np.exp(constant + slope * ends), "--", color=colour, lw=1.2)


def main() -> None:
    """Draw both panels into the file."""
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    rng = np.random.default_rng(SEED)
    left, right = figure.subplots(1, 2)
    for colour, (p, rows) in zip(COLOURS, ROWS_AT_LEVEL.items(), strict=False):
        missed = {n: 1 - rejection_rate(n, p, rng) for n in rows}
        draw_errors(left, missed, TABLES, D, (colour, f"p = {p:g} missed"))
    rows = ROWS_AT_LEVEL[0.3]
    alarms = [rejection_rate(n, None, rng) for n in rows]
    left.plot(
        np.array(rows) / D, alarms, "s-", color="#8a94a0", ms=4, lw=0.8, label="false alarms"
    )
    left.set(title=f"planted_test at level {LEVEL}, d = {D}", ylabel="error rate", ylim=(8e-4, 2))
    for colour, (d, rows) in zip(COLOURS, ROWS_AT_BEST.items(), strict=True):
        sums = {n: least_sum_of_errors(n, d**-0.5, rng) for n in rows}
        draw_errors(right, sums, SAMPLES, d, (colour, f"d = {d}"))
    right.set(title="best threshold, p = 1 / sqrt d", ylabel="sum of both errors", ylim=(2e-5, 2))
    for axes in (left, right):
        axes.set_xlabel("n / d")
        axes.set_xlim(0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, title="exp(-c n / d), c", fontsize=9, title_fontsize=9)
    figure.savefig(OUT, dpi=80, metadata={"Software": None}, pil_kwargs={"optimize": True})


if __name__ == "__main__":
    main()
