"""Phase transitions in (log2 d, log2 n): the paper's first figure.

Algorithm 2 with fresh batches of n rows, so a data set has n_init + 2 n s rows; beside it the
library's own solver, which has n rows in all. A pixel is the mean alignment; where it passes 1/2
lies the transition, whose slope is fitted.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from sightline.ascent import default_steps
from sightline.experiments.drawing import draw_map
from sightline.experiments.figure import Cell, Context, Figure, Finding, Row, grid
from sightline.experiments.figures.planted import PRINTED, TITLES, measured_alignment
from sightline.experiments.figures.slopes import FEW, LARGEST, LEVEL, Panel
from sightline.experiments.methods import METHODS, N_STARTS
from sightline.experiments.summary import select, summarise_by, values_of
from sightline.views.palette import MARKED, group_style

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

OWN = "adaptive"

RULES = {"figures": "η₁ = √d p", "kurtosis-theorem": "η₁ = d p²", OWN: METHODS[OWN].label}
"""What climbs: Algorithm 2 by one of the paper's step sizes, or the library's own solver."""


def measure(cell: Cell, context: Context) -> list[Row]:
    """Return the alignment on one data set, and the rows that it had."""
    rows = _rows(cell["steps"], cell["d"], cell["n"])
    if cell["steps"] == OWN:
        found = measured_alignment(cell, context, OWN, rows, own_whitening="auto")
    else:
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


def _rows(steps: str, d: int, n: int) -> int:
    """Return how many rows are read: for the own solver all is one batch."""
    return n if steps == OWN else N_STARTS + 2 * n * default_steps(d)


def summarise(rows: list[Row]) -> list[Row]:
    """Return mean alignments; the transition of their dimension; the slope of their panel.

    The slope's error is its standard deviation when the data sets of every pixel are drawn anew
    from themselves.
    """
    cells = summarise_by(rows, ("signal", "steps", "p", "d", "n", "rows"))
    for steps, p in product(values_of(rows, "steps"), values_of(rows, "p")):
        panel = select(cells, steps=steps, p=p)
        sets = Panel(select(rows, steps=steps, p=p))
        where = sets.transitions(sets.means())
        fitted, error = sets.slope(where), sets.slope_error()
        for cell in panel:
            cell["transition"] = where.get(cell["d"])
            cell["slope"], cell["slope_error"] = fitted, None if fitted is None else error
    return cells


def draw(_: list[Row], summary: list[Row]) -> Picture:
    """Draw a map for each p and step size, with the paper's slope and the fitted one."""
    rules, fractions = values_of(summary, "steps"), values_of(summary, "p")
    picture = Picture(figsize=(3.9 * len(fractions), 3.9 * len(rules)), layout="constrained")
    axes = picture.subplots(len(rules), len(fractions), squeeze=False, sharex=True, sharey=True)
    for row, steps in enumerate(rules):
        for column, p in enumerate(fractions):
            ax = axes[row, column]
            image = _panel(ax, summary, steps, p)
            ax.set_title(f"p = {PRINTED[p]}, {RULES[steps]}", fontsize=10)
            ax.set_xlabel("log₂ d" if row == len(rules) - 1 else "")
            of = "rows in all" if steps == OWN else "rows of a batch"
            ax.set_ylabel(f"log₂ n ({of})" if column == 0 else "")
    picture.colorbar(image, ax=axes, label="mean alignment |⟨û, u*⟩|", shrink=0.85)
    signal = summary[0]["signal"]
    picture.suptitle(f"{TITLES[signal]}: where recovery begins", fontsize=12)
    return picture


def _panel(ax: Axes, summary: list[Row], steps: str, p: str) -> Any:
    part = select(summary, steps=steps, p=p)
    d, n = sorted(set(values_of(part, "d"))), sorted(set(values_of(part, "n")))
    means = {(row["n"], row["d"]): row["mean"] for row in part}
    values = np.array([[means[at, dim] for dim in d] for at in n])
    image = draw_map(ax, values, np.log2(d), np.log2(n))
    limits = ax.get_xlim(), ax.get_ylim()
    at, where = (np.log2(values) for values in _transitions(part))
    guide = GUIDES[part[0]["signal"]][p]
    blue = group_style(0).colour
    if at.size:
        ax.plot(at, where, "o", color="white", mec=blue, ms=5, label=f"mean {LEVEL:g}")
        x, middle, level = np.array(limits[0]), at[-LARGEST:].mean(), where[-LARGEST:].mean()
        if steps != OWN:
            label = f"the paper's slope {guide:g}"
            ax.plot(x, level + guide * (x - middle), color=MARKED, lw=2, label=label)
        if part[0]["slope"] is not None:
            line = level + part[0]["slope"] * (x - middle)
            ax.plot(x, line, "--", color=blue, lw=2, label=f"fitted {_slope_words(part[0])}")
        ax.legend(loc="lower right", fontsize=8, framealpha=0.92)
    ax.set(xlim=limits[0], ylim=limits[1], xticks=np.log2(d), yticks=np.log2(n))
    return image


def _transitions(part: list[Row]) -> tuple[list[int], list[float]]:
    """Return the dimensions of a panel whose transition is inside the grid, and where it lies."""
    found = {row["d"]: row["transition"] for row in part if row["transition"] is not None}
    return list(found), list(found.values())


def _slope_words(row: Row) -> str:
    error = row["slope_error"]
    return f"{row['slope']:.2f}" + ("" if error is None else f" ± {error:.2f}")


def judge(summary: list[Row]) -> list[Finding]:
    """Compare the fitted slopes with the theorem's exponents, and the rows with our own.

    A slope outside the bounds leaves the question open where that is by less than two of its
    errors, or where its data sets are too few to tell the error.
    """
    findings = []
    rules = [steps for steps in values_of(summary, "steps") if steps != OWN]
    for steps, p in product(rules, values_of(summary, "p")):
        part = select(summary, steps=steps, p=p)
        expected, guide = (table[part[0]["signal"]][p] for table in (THEORY, GUIDES))
        places = ", ".join(f"{d}: {at:.0f}" for d, at in zip(*_transitions(part), strict=True))
        evidence = f"n at mean {LEVEL:g} by d: {places or 'nowhere inside the grid'}"
        if part[0]["slope"] is not None:
            evidence = f"fitted {_slope_words(part[0])} over the {LARGEST} largest d; {evidence}"
        wanted = f"{expected:g}" + (f" (drawn {guide:g})" if guide != expected else "")
        claim = f"p = {p}, {RULES[steps]}: the transition has slope {wanted}, within 0.3"
        low, high = min(expected, guide) - 0.3, max(expected, guide) + 0.3
        findings.append(Finding(claim, _within(part[0], low, high), evidence))
    ours = select(summary, steps=OWN)
    return [*findings, *(_own(summary, p) for p in values_of(ours, "p"))]


def _own(summary: list[Row], p: str) -> Finding:
    """Compare the rows in all at which the own solver and the first step size pass the level."""
    theirs, ours = (
        _rows_needed(select(summary, steps=steps, p=p))
        for steps in (values_of(summary, "steps")[0], OWN)
    )
    both = sorted(ours.keys() & theirs.keys())
    shared = ", ".join(f"{d}: {ours[d]:,} and {theirs[d]:,}" for d in both)
    alone = ", ".join(f"{d}: {ours[d]:,}" for d in sorted(ours.keys() - theirs.keys()))
    return Finding(
        f"(Ours) p = {p}: the adaptive solver passes mean {LEVEL:g} with fewer rows in all",
        all(ours[d] < theirs[d] for d in both) if both else None,
        f"rows by d, ours and theirs: {shared or 'none'}; by ours alone: {alone or 'none'}",
    )


def _rows_needed(part: list[Row]) -> dict[int, int]:
    """Return the rows in all at the transition of each dimension that has one in the grid."""
    places = zip(*_transitions(part), strict=True)
    return {d: _rows(part[0]["steps"], d, round(n)) for d, n in places}


def _within(row: Row, low: float, high: float) -> bool | None:
    fitted, error = row["slope"], row["slope_error"]
    if fitted is None:
        return None
    if low <= fitted <= high:
        return True
    if error is None or row["count"] < FEW:
        return None
    return False if fitted + 2 * error < low or fitted - 2 * error > high else None


def cost(cell: Cell) -> float:
    """Return how long a cell takes beside others.

    Algorithm 2 scores all rows in each of its steps; the own solver climbs from more starts.
    """
    s = default_steps(cell["d"])
    products = 25 * s if cell["steps"] == OWN else s * s
    return float(products * cell["n"] * cell["d"] + 2e5)


def _powers(low: int, high: int) -> list[int]:
    return [2**k for k in range(low, high + 1)]


def _ranges(dimensions: list[int], n: list[int], sets: int, *, own_sets: int) -> dict[str, Any]:
    return {"dimensions": dimensions, "n": n, "sets": sets, "own_sets": own_sets}


def _figure(
    signal: str, claim: str, rules: tuple[str, ...], ranges: dict[str, dict[str, Any]]
) -> Figure:
    def cells(dimensions: list[int], n: list[int], sets: int, own_sets: int) -> list[Cell]:
        places: dict[str, Any] = {"p": [*GUIDES[signal]], "d": dimensions, "n": n}
        theirs = grid(signal=[signal], steps=rules, **places, set=range(sets))
        return theirs + grid(signal=[signal], steps=[OWN], **places, set=range(own_sets))

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
    f"scale; slopes are fitted to the {LARGEST} largest dimensions whose transition is inside the "
    "grid. The paper draws its lines by eye.",
    "The library's adaptive solver is added: it has n rows in all, for which it chooses a "
    "whitening, and fewer data sets, since a search that finds nothing is long.",
)

_DEVIATIONS = {
    "clusters": _COMMON,
    "rademacher": (
        *_COMMON,
        "The fractions are printed as d^-0.5 twice and 0.3; they are d^-0.5, d^-0.3 and 0.3 here.",
        "The figure is printed with eta_1 = sqrt(d) p, the theorem asks for eta_1 of the order "
        "d p^2: both are run.",
        "The guide slopes are given as (3, 1.8, 1), for p = 0.3, d^-0.3, d^-0.5.",
        "At p = 1/3 the fourth moment of the signal is 3, that of the normal law, and x^4 sees "
        "nothing of it. p = d^-0.3 passes 1/3 at d = 39: dimensions around that say nothing of a "
        "slope.",
    ),
}

FIGURES = (
    _figure(
        "clusters",
        "For large d the transition of the two-step algorithm with relu2 follows n ~ d^2 p^2: "
        "lines of slope 1, 1.3 and 2 for p = d^-0.5, d^-0.3 and 0.3.",
        ("figures",),
        {
            "smoke": _ranges(_powers(4, 5), _powers(6, 7), 1, own_sets=1),
            "quick": _ranges(_powers(4, 8), _powers(4, 11), 3, own_sets=1),
            "paper": _ranges(_powers(4, 9), _powers(4, 11), 30, own_sets=3),
        },
    ),
    _figure(
        "rademacher",
        "For large d the transition of the two-step algorithm with x^4, chosen by -|x|, follows "
        "n ~ d^3 p^4: lines of slope 1, 1.8 and 3 for p = d^-0.5, d^-0.3 and 0.3.",
        ("figures", "kurtosis-theorem"),
        {
            "smoke": _ranges(_powers(4, 5), _powers(6, 7), 1, own_sets=1),
            "quick": _ranges(_powers(4, 7), _powers(4, 12), 2, own_sets=1),
            "paper": _ranges(_powers(4, 8), _powers(4, 12), 30, own_sets=3),
        },
    ),
)
