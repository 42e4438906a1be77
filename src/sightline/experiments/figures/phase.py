"""Phase transitions in (log2 d, log2 n): the paper's first figure.

Algorithm 2 with fresh batches of n rows, so a data set has n_init + 2 n s rows. A pixel is the
mean alignment; where it passes 1/2 lies the transition, whose slope is fitted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from sightline.ascent import default_steps
from sightline.experiments.drawing import draw_map
from sightline.experiments.figure import Cell, Context, Figure, Finding, Row, grid
from sightline.experiments.figures.planted import PRINTED, TITLES, measured_alignment
from sightline.experiments.methods import N_STARTS
from sightline.experiments.summary import crossing, select, slope, summarise_by, values_of
from sightline.views.palette import MARKED, group_style

LEVEL = 0.5
"""The mean alignment at which a transition is placed."""

LARGEST = 4
"""Dimensions that slopes are fitted to, the largest."""

INDEX = {"clusters": "relu2", "rademacher": "kurtosis"}

GUIDES = {
    "clusters": {"d^-0.5": 1.0, "d^-0.3": 1.3, "0.3": 2.0},
    "rademacher": {"d^-0.5": 1.0, "d^-0.3": 1.8, "0.3": 3.0},
}
"""The slopes of the paper's lines."""

THEORY = {
    "clusters": {"d^-0.5": 1.0, "d^-0.3": 1.4, "0.3": 2.0},
    "rademacher": {"d^-0.5": 1.0, "d^-0.3": 1.8, "0.3": 3.0},
}
"""The exponents of d^2 p^2 and d^3 p^4 at those p."""

RULES = {"figures": "η₁ = √d p", "kurtosis-theorem": "η₁ = d p²"}


def measure(cell: Cell, context: Context) -> list[Row]:
    """Return the alignment on one data set, and the rows that it had."""
    rows = N_STARTS + 2 * cell["n"] * default_steps(cell["d"])
    found = measured_alignment(
        cell,
        context,
        INDEX[cell["signal"]],
        rows,
        batch_size=cell["n"],
        resample="fresh",
        step_rule=cell["steps"],
    )
    return [{"rows": rows, "alignment": found}]


def summarise(rows: list[Row]) -> list[Row]:
    """Return mean alignments, and beside them the transition of their dimension."""
    cells = summarise_by(rows, ("signal", "steps", "p", "d", "n", "rows"))
    for cell in cells:
        column = select(cells, steps=cell["steps"], p=cell["p"], d=cell["d"])
        n, means = [row["n"] for row in column], [row["mean"] for row in column]
        cell["transition"] = crossing(n, means, LEVEL)
    return cells


def transitions(summary: list[Row], steps: str, p: str) -> tuple[list[int], list[float]]:
    """Return the dimensions whose transition is inside the grid, and the n where it lies."""
    found = {
        row["d"]: row["transition"]
        for row in select(summary, steps=steps, p=p)
        if row["transition"] is not None and row["transition"] > row["n"]
    }
    return list(found), list(found.values())


def fitted(summary: list[Row], steps: str, p: str) -> tuple[float, float] | None:
    """Return slope and intercept over the largest dimensions, None where fewer than three are."""
    d, n = transitions(summary, steps, p)
    return slope(d[-LARGEST:], n[-LARGEST:]) if len(d) >= 3 else None


def draw(_: list[Row], summary: list[Row]) -> Picture:
    """Draw a map for each p and step size, with the paper's slope and the fitted one."""
    rules, fractions = values_of(summary, "steps"), values_of(summary, "p")
    picture = Picture(figsize=(3.9 * len(fractions), 3.9 * len(rules)), layout="constrained")
    axes = picture.subplots(len(rules), len(fractions), squeeze=False, sharex=True, sharey=True)
    for row, steps in enumerate(rules):
        for column, p in enumerate(fractions):
            ax = axes[row, column]
            image = _panel(ax, summary, steps, p)
            shown = PRINTED[p] + (f", {RULES[steps]}" if len(rules) > 1 else "")
            ax.set_title(f"p = {shown}", fontsize=10)
            ax.set_xlabel("log₂ d" if row == len(rules) - 1 else "")
            ax.set_ylabel("log₂ n (rows of a batch)" if column == 0 else "")
    picture.colorbar(image, ax=axes, label="mean alignment |⟨û, u*⟩|", shrink=0.85)
    signal = summary[0]["signal"]
    picture.suptitle(f"{TITLES[signal]}: where Algorithm 2 begins to recover", fontsize=12)
    return picture


def _panel(ax: Axes, summary: list[Row], steps: str, p: str) -> Any:
    part = select(summary, steps=steps, p=p)
    d, n = sorted(set(values_of(part, "d"))), sorted(set(values_of(part, "n")))
    means = {(row["n"], row["d"]): row["mean"] for row in part}
    values = np.array([[means[at, dim] for dim in d] for at in n])
    image = draw_map(ax, values, np.log2(d), np.log2(n))
    limits = ax.get_xlim(), ax.get_ylim()
    at, where = (np.log2(part) for part in transitions(summary, steps, p))
    guide = GUIDES[part[0]["signal"]][p]
    blue = group_style(0).colour
    if at.size:
        ax.plot(at, where, "o", color="white", mec=blue, ms=5, label=f"mean {LEVEL:g}")
        x = np.array(limits[0])
        level = np.mean(where[-LARGEST:] - guide * at[-LARGEST:])
        ax.plot(x, guide * x + level, color=MARKED, lw=2, label=f"the paper's slope {guide:g}")
        line = fitted(summary, steps, p)
        if line is not None:
            ax.plot(
                x, line[0] * x + line[1], "--", color=blue, lw=2, label=f"fitted {line[0]:.2f}"
            )
        ax.legend(loc="lower right", fontsize=8, framealpha=0.92)
    ax.set(xlim=limits[0], ylim=limits[1], xticks=np.log2(d), yticks=np.log2(n))
    return image


def judge(summary: list[Row]) -> list[Finding]:
    """Compare the fitted slopes with the theorem's exponents."""
    signal = summary[0]["signal"]
    findings = []
    for steps in values_of(summary, "steps"):
        for p in values_of(summary, "p"):
            expected, guide = THEORY[signal][p], GUIDES[signal][p]
            line, (d, n) = fitted(summary, steps, p), transitions(summary, steps, p)
            places = ", ".join(f"{dim}: {at:.0f}" for dim, at in zip(d, n, strict=True))
            where = f"n at mean {LEVEL:g} by d: {places or 'nowhere inside the grid'}"
            held = None
            if line is not None:
                low, high = sorted((expected, guide))
                held = low - 0.3 <= line[0] <= high + 0.3
                where = f"fitted slope {line[0]:.2f} (largest {len(d[-LARGEST:])} d); {where}"
            wanted = f"{expected:g}" + (f" (drawn {guide:g})" if guide != expected else "")
            claim = f"p = {p}, {RULES[steps]}: the transition has slope {wanted}, within 0.3"
            findings.append(Finding(claim, held, where))
    return findings


def cost(cell: Cell) -> float:
    """Return how long a cell takes beside others: scores of all rows in every step."""
    return float(default_steps(cell["d"]) ** 2 * cell["n"] * cell["d"] + 2e5)


def _powers(low: int, high: int) -> list[int]:
    return [2**k for k in range(low, high + 1)]


def _figure(
    signal: str, claim: str, rules: tuple[str, ...], ranges: dict[str, dict[str, Any]]
) -> Figure:
    def cells(dimensions: list[int], n: list[int], sets: int) -> list[Cell]:
        p = [*GUIDES[signal]]
        return grid(signal=[signal], steps=rules, p=p, d=dimensions, n=n, set=range(sets))

    return Figure(
        name=f"phase-{signal}",
        title=f"{TITLES[signal]}: the phase transition of the two-step algorithm",
        claim=claim,
        cells={scale: cells(**chosen) for scale, chosen in ranges.items()},
        measure=measure,
        summarise=summarise,
        draw=draw,
        judge=judge,
        deviations=_DEVIATIONS[signal],
        cost=cost,
    )


_COMMON = (
    f"n_init is not printed for this figure; {N_STARTS} starts, as in the comparison of methods.",
    "Iterates and starts are compared by psi on all rows of their run. The print says the first "
    "n, which are the batch that produced the first iterate, and favours it.",
    "The transition is where the mean alignment passes 1/2, between two pixels on a logarithmic "
    f"scale; slopes are fitted to the largest {LARGEST} dimensions. The paper draws its lines by "
    "eye.",
)

_DEVIATIONS = {
    "clusters": _COMMON,
    "rademacher": (
        *_COMMON,
        "The fractions are printed as d^-0.5 twice and 0.3; they are d^-0.5, d^-0.3 and 0.3 here.",
        "The figure is printed with eta_1 = sqrt(d) p, the theorem asks for eta_1 of the order "
        "d p^2: both are run.",
        "The guide slopes are given as (3, 1.8, 1), for p = 0.3, d^-0.3, d^-0.5.",
    ),
}

FIGURES = (
    _figure(
        "clusters",
        "For large d the transition of the two-step algorithm with relu2 follows n ~ d^2 p^2: "
        "lines of slope 1, 1.3 and 2 for p = d^-0.5, d^-0.3 and 0.3.",
        ("figures",),
        {
            "smoke": {"dimensions": _powers(4, 6), "n": _powers(5, 7), "sets": 1},
            "quick": {"dimensions": _powers(4, 8), "n": _powers(4, 11), "sets": 3},
            "paper": {"dimensions": _powers(4, 9), "n": _powers(4, 11), "sets": 30},
        },
    ),
    _figure(
        "rademacher",
        "For large d the transition of the two-step algorithm with x^4, chosen by -|x|, follows "
        "n ~ d^3 p^4: lines of slope 1, 1.8 and 3 for p = d^-0.5, d^-0.3 and 0.3.",
        ("figures", "kurtosis-theorem"),
        {
            "smoke": {"dimensions": _powers(4, 5), "n": _powers(6, 7), "sets": 1},
            "quick": {"dimensions": _powers(4, 7), "n": _powers(4, 12), "sets": 2},
            "paper": {"dimensions": _powers(4, 8), "n": _powers(4, 12), "sets": 30},
        },
    ),
)
