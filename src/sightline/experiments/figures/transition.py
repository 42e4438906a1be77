"""How few rows each method needs: a figure of our own, against d at p = 1/sqrt(d).

A cell is one data set size after another: rows are added by factors of sqrt(2), beginning near d,
until the alignment is at least 0.9 twice running; the first of the two is what was needed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Picture

from sightline.ascent import default_steps
from sightline.experiments.drawing import method_style
from sightline.experiments.figure import Cell, Context, Figure, Finding, Row, grid
from sightline.experiments.figures.planted import PRINTED, TITLES, measured_alignment, signal_of
from sightline.experiments.methods import METHODS, N_STARTS
from sightline.experiments.summary import select, slope, values_of
from sightline.plots.axes import FAINT, INK, bare
from sightline.theory import low_degree_threshold

ENOUGH = 0.9
"""The alignment that counts as recovery."""

PAPER = {"clusters": "relu2", "rademacher": "kurtosis"}
"""The index that the paper climbs."""

SPECTRAL = {"clusters": "max-skew", "rademacher": "cov4max"}
"""The spectral method that the signal suits: its third moment, its fourth."""

_FRACTION = "d^-0.5"

_DEGREES = (6, 20)
"""Of the low-degree bound: the least that sees a third moment, and one beyond the theorem's."""


def measure(cell: Cell, context: Context) -> list[Row]:
    """Return the alignment at every number of rows that was tried."""
    results: list[Row] = []
    for size, rows in _ladder(cell):
        fresh: dict[str, Any] = (
            {"batch_size": size, "resample": "fresh"} if cell["kind"] == "paper" else {}
        )
        whiten = cell["kind"] == "spectral"
        found = measured_alignment(cell, context, cell["method"], rows, whiten=whiten, **fresh)
        results.append({"rows": rows, "alignment": found})
        if len(results) > 1 and min(one["alignment"] for one in results[-2:]) >= ENOUGH:
            break
    return results


def _ladder(cell: Cell) -> Iterator[tuple[int, int]]:
    """Yield batch sizes and the rows that they take; but for the paper's, a batch is all rows."""
    d, steps = cell["d"], default_steps(cell["d"])
    size = 16.0 if cell["kind"] == "paper" else math.sqrt(2) * d
    while (rows := N_STARTS + 2 * int(size) * steps if cell["kind"] == "paper" else int(size)) <= (
        cell["most"]
    ):
        yield int(size), rows
        size *= math.sqrt(2)


def summarise(rows: list[Row]) -> list[Row]:
    """Return the median of the rows needed, with quartiles; None where they were not enough."""
    names = ("signal", "p", "kind", "method", "d")
    groups: dict[tuple[object, ...], dict[int, list[Row]]] = {}
    for row in rows:
        sets = groups.setdefault(tuple(row[name] for name in names), {})
        sets.setdefault(row["set"], []).append(row)
    return [
        {**dict(zip(names, key, strict=True)), **_needed(list(sets.values()))}
        for key, sets in groups.items()
    ]


def _needed(sets: list[list[Row]]) -> Row:
    least = sorted(_least(tried) for tried in sets)
    low, middle, high = (
        float(at) for at in np.quantile(least, (0.25, 0.5, 0.75), method="inverted_cdf")
    )
    return {
        "count": len(least),
        "reached": sum(map(math.isfinite, least)),
        "lower_quartile": low if math.isfinite(low) else None,
        "median": middle if math.isfinite(middle) else None,
        "upper_quartile": high if math.isfinite(high) else None,
    }


def _least(tried: list[Row]) -> float:
    """Return the first of two numbers of rows running that were enough, infinity for none."""
    enough = [row["alignment"] >= ENOUGH for row in tried]
    if len(enough) > 1 and all(enough[-2:]):
        return float(tried[-2]["rows"])
    return math.inf


def draw(_: list[Row], summary: list[Row]) -> Picture:
    """Draw the rows needed against d, with the low-degree bound and n = d + 1."""
    signals = values_of(summary, "signal")
    picture = Picture(figsize=(5.6 * len(signals), 5.0), layout="constrained")
    axes = picture.subplots(1, len(signals), squeeze=False, sharey=True)[0]
    for ax, signal in zip(axes, signals, strict=True):
        part = select(summary, signal=signal)
        for kind in values_of(part, "kind"):
            _draw_method(ax, select(part, kind=kind))
        _draw_bounds(ax, part)
        ax.set_xscale("log", base=2)
        ax.set_yscale("log", base=2)
        ax.set_xlabel("dimension d")
        ax.set_title(f"{TITLES[signal]}, p = {PRINTED[part[0]['p']]}", loc="left", fontsize=11)
        ax.legend(frameon=False, fontsize=9, loc="upper left")
        bare(ax)
    axes[0].set_ylabel(f"rows needed for |⟨û, u*⟩| ≥ {ENOUGH:g} (median)")
    low, high = axes[0].get_ylim()
    axes[0].set_ylim(low, high * 8)  # room for the legends
    return picture


def _draw_method(ax: Axes, part: list[Row]) -> None:
    reached = [row for row in part if row["median"] is not None]
    style = method_style(part[0]["method"])
    if part[0]["kind"] == "paper":
        style["label"] = f"the paper's ({style['label']}, fresh batches)"
    line = fitted(part)
    style["label"] += ": not reached" if not reached else ""
    style["label"] += "" if line is None else f": slope {line:.2f}"
    d, middle = [row["d"] for row in reached], [row["median"] for row in reached]
    ax.plot(d, middle, **style)
    low = [row["lower_quartile"] for row in reached]
    high = [row["upper_quartile"] or row["median"] for row in reached]
    ax.fill_between(d, low, high, color=style["color"], alpha=0.15, lw=0)


def _draw_bounds(ax: Axes, part: list[Row]) -> None:
    d = sorted(values_of(part, "d"))
    high, low = (
        [low_degree_threshold(signal_of({**part[0], "d": at}), at, degree) for at in d]
        for degree in _DEGREES
    )
    label = "low-degree bound, degrees {} to {}".format(*_DEGREES)
    ax.fill_between(d, low, high, facecolor="#e9ecef", edgecolor=FAINT, ls="--", label=label)
    ax.plot(d, [at + 1 for at in d], color=INK, ls=":", lw=1.3, label="n = d + 1 (lattices)")


def fitted(part: list[Row]) -> float | None:
    """Return the exponent of d in the rows needed, where three dimensions or more were reached."""
    reached = [row for row in part if row["median"] is not None]
    if len(reached) < 3:
        return None
    return slope([row["d"] for row in reached], [row["median"] for row in reached])[0]


def judge(summary: list[Row]) -> list[Finding]:
    """Say whether the adaptive solver needs fewest rows at every d, and how many times fewer."""
    findings = []
    for signal in values_of(summary, "signal"):
        part = select(summary, signal=signal)
        ours = {row["d"]: row["median"] for row in select(part, kind="adaptive")}
        for kind in ("paper", "spectral"):
            theirs = {row["d"]: row["median"] for row in select(part, kind=kind)}
            held = all(
                ours[d] is not None and (theirs[d] is None or ours[d] <= theirs[d]) for d in ours
            )
            words = "; ".join(f"d = {d}: {_rows(ours[d])} and {_rows(theirs[d])}" for d in ours)
            label = METHODS[select(part, kind=kind)[0]["method"]].label
            claim = f"(Ours) {TITLES[signal]}: adaptive needs fewer rows than {kind} {label}"
            findings.append(Finding(claim, held, words))
    return findings


def _rows(median: float | None) -> str:
    return "not reached" if median is None else f"{median:,.0f}"


def cost(cell: Cell) -> float:
    """Return how long a cell takes beside others."""
    return METHODS[cell["method"]].cost * float(cell["d"]) ** 2


def _cells(dimensions: list[int], sets: int, most: int) -> list[Cell]:
    chosen = {"adaptive": {"clusters": "adaptive", "rademacher": "adaptive"}}
    chosen |= {"spectral": SPECTRAL, "paper": PAPER}
    every = grid(
        signal=TITLES,
        p=[_FRACTION],
        kind=chosen,
        d=dimensions,
        set=range(sets),
        most=[most],
    )
    return [{**cell, "method": chosen[cell["kind"]][cell["signal"]]} for cell in every]


FIGURES = (
    Figure(
        name="transition-compared",
        title="How few rows are enough: the paper's, spectral and adaptive methods compared",
        claim="(A figure of our own.) How the rows that are enough for an alignment of 0.9 grow "
        "with d at p = d^-0.5, for the paper's algorithm, the spectral method that suits the "
        "signal, and the adaptive solver.",
        cells={
            "smoke": _cells([16, 32], 1, 1000),
            "quick": _cells([16, 32, 64, 128], 5, 40_000),
            "paper": _cells([16, 32, 64, 128, 256, 512], 30, 300_000),
        },
        measure=measure,
        summarise=summarise,
        draw=draw,
        judge=judge,
        deviations=(
            "The paper has no such figure. Rows are all rows that a method reads: for Algorithm 2 "
            "n_init + 2 n s, with fresh batches of n.",
            "The paper's algorithm takes the rows as drawn; for the spectral methods and the "
            "adaptive solver they are whitened by their own covariance, which helps both.",
            "A data set's least n is the first of two steps of a ladder of sqrt(2) at which the "
            "alignment is 0.9 or more; the line is the median over data sets, the band the "
            "quartiles.",
            "The low-degree bound is the n at which the squared norm passes 2, for one degree for "
            "all d, since it jumps where the degree does. It speaks of polynomial tests of that "
            "degree and goes down as the degree goes up: its slope in d means more than its "
            "height, and a method may lie under the bound of a low degree.",
        ),
        cost=cost,
    ),
)
