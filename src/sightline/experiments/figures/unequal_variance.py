"""Clusters of unequal variance: the supplement's first pair of maps.

    (1 - p) N(0, I) + p N(delta u*, lambda I),   whitened

Each pixel is the mean of |<u_hat, u*>|.
"""

from __future__ import annotations

from matplotlib.figure import Figure as Picture

from sightline.datasets import make_unequal_variance
from sightline.experiments.figure import Cell, Context, Figure, Finding, Row, grid
from sightline.experiments.figures.mixtures import (
    OWN_ADDED,
    cost,
    data_seed,
    draw_maps,
    judge_own,
    mean_of,
    measured,
    of_kinds,
)
from sightline.experiments.summary import select, summarise_by, values_of

P = 0.3
"""The rare fraction."""


def measure(cell: Cell, context: Context) -> list[Row]:
    """Return the alignment of a method for one shift and one variance of the smaller cluster."""
    X, planted, _ = make_unequal_variance(
        cell["n"], cell["d"], P, cell["delta"], cell["lambda"], data_seed(cell, context)
    )
    return measured(X, planted, cell, context, p=P, own_index="relu2")


def summarise(rows: list[Row]) -> list[Row]:
    """Return mean and spread of each pixel."""
    return summarise_by(rows, ("n", "method", "whiten", "delta", "lambda"))


def draw(_: list[Row], summary: list[Row]) -> Picture:
    """Draw maps over shift and variance, a column for each n."""
    return draw_maps(summary, "delta", "shift δ of the smaller cluster")


def judge(summary: list[Row]) -> list[Finding]:
    """Compare lambda above 1 with below, and say what large shifts do at lambda = 1."""
    findings = []
    for n in values_of(summary, "n"):
        points = [row for row in select(summary, n=n, method="relu2") if row["delta"] > 0]
        above = mean_of([row for row in points if row["lambda"] > 1])
        below = mean_of([row for row in points if row["lambda"] < 1])
        findings.append(
            Finding(
                f"At n = {n}, recovery is easier for λ > 1 than for λ < 1",
                above > below,
                f"mean alignment of ReLU2 over all shifts: {above:.3f} for λ > 1, {below:.3f} "
                "for λ < 1",
            )
        )
    largest = max(values_of(summary, "n"))
    equal = select(summary, n=largest, method="relu2", **{"lambda": 1.0})
    at = {row["delta"]: row["mean"] for row in equal}
    first, last = min(at), max(at)
    claim = (
        "With λ = 1 and growing δ the clusters become those of the planted model, and are found"
    )
    evidence = (
        f"ReLU2 at n = {largest}: {at[first]:.3f} at δ = {first:g}, {at[last]:.3f} at δ = {last:g}"
    )
    return [*findings, Finding(claim, at[last] >= 0.9, evidence), judge_own(summary)]


def _cells(
    n: tuple[int, ...], d: int, delta: list[float], lam: list[float], *, sets: int, own_sets: int
) -> list[Cell]:
    cells = grid(n=n, d=[d], delta=delta, **{"lambda": lam}, set=range(sets))
    return of_kinds(cells, (("relu2", "exact"), ("adaptive", "exact")), own_sets)


_LAMBDAS = [0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0]
_DELTAS = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]

FIGURES = (
    Figure(
        name="unequal-variance",
        title="Clusters of unequal variance, p = 0.3",
        claim=(
            "With λ = 1 the mixture resembles imbalanced clusters as δ grows; recovery is easier "
            "for λ > 1."
        ),
        cells={
            "smoke": _cells((100,), 10, [0.0, 6.0], [0.5, 1.0, 2.0], sets=1, own_sets=1),
            "quick": _cells(
                (400, 4000), 100, _DELTAS[::2], [0.5, 1.0, 2.0, 4.0], sets=2, own_sets=1
            ),
            "paper": _cells((400, 4000), 100, _DELTAS, _LAMBDAS, sets=10, own_sets=3),
        },
        measure=measure,
        summarise=summarise,
        draw=draw,
        judge=judge,
        deviations=(
            "The paper names neither the values of δ and λ, nor the number of data sets, nor the "
            "index: here δ = 0 .. 8, λ = 1/4 .. 4, 10 data sets, and ReLU2, with 400 starts, "
            "batches of n drawn with replacement, eta_1 = sqrt(d) p and eta_2 = 0.5.",
            f"{OWN_ADDED} 3, on the same whitened rows, with ReLU2.",
        ),
        cost=cost,
    ),
)
