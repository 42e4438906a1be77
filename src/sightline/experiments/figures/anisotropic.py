"""Two normal parts that share a centre, one stretched: the supplement's second pair of maps.

    (1 - p) N(0, I) + p N(0, I + (lambda - 1) u* u*^T)

Each pixel is the mean of |<u_hat, u*>|.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure as Picture

from sightline.datasets import make_anisotropic
from sightline.experiments.figure import Cell, Context, Figure, Finding, Row, grid
from sightline.experiments.figures.mixtures import (
    OWN_ADDED,
    ROWS,
    cost,
    data_seed,
    draw_maps,
    judge_own,
    mean_of,
    measured,
    of_kinds,
)
from sightline.experiments.summary import select, summarise_by, values_of


def measure(cell: Cell, context: Context) -> list[Row]:
    """Return the alignment of a method for one fraction and one variance along u*."""
    X, planted, _ = make_anisotropic(
        cell["n"], cell["d"], cell["p"], cell["lambda"], data_seed(cell, context)
    )
    return measured(X, planted, cell, context, p=cell["p"], own_index="abs")


def summarise(rows: list[Row]) -> list[Row]:
    """Return mean and spread of each pixel."""
    return summarise_by(rows, ("n", "method", "whiten", "p", "lambda"))


def draw(_: list[Row], summary: list[Row]) -> Picture:
    """Draw maps over fraction and variance, a column for each n."""
    return draw_maps(summary, "p", "fraction p of the stretched part")


def judge(summary: list[Row]) -> list[Finding]:
    """Say whether small p and large lambda are easier, for both readings of the rows."""
    findings = []
    largest = max(values_of(summary, "n"))
    for whiten, words in ROWS.items():
        points = [
            row
            for row in select(summary, n=largest, method="relu2", whiten=whiten)
            if row["lambda"] > 1
        ]
        if not points:
            continue
        middle = float(np.median(values_of(points, "p")))
        rare = mean_of([row for row in points if row["p"] < middle])
        common = mean_of([row for row in points if row["p"] > middle])
        findings.append(
            Finding(
                f"ReLU2 on {words}: smaller p makes recovery easier",
                rare > common,
                f"n = {largest}, λ > 1: mean alignment {rare:.3f} below p = {middle:g}, "
                f"{common:.3f} above",
            )
        )
        largest_lambda = max(values_of(points, "lambda"))
        edge = mean_of([row for row in points if row["lambda"] == largest_lambda])
        whole = mean_of(points)
        findings.append(
            Finding(
                f"ReLU2 on {words}: larger λ makes recovery easier",
                edge > whole,
                f"n = {largest}: mean alignment {edge:.3f} at λ = {largest_lambda:g}, "
                f"{whole:.3f} over all λ > 1",
            )
        )
    return [*findings, judge_own(summary)]


def _cells(
    n: tuple[int, ...], d: int, p: list[float], lam: list[float], *, sets: int, own_sets: int
) -> list[Cell]:
    cells = grid(n=n, d=[d], p=p, **{"lambda": lam}, set=range(sets))
    kinds = (("relu2", "none"), ("relu2", "exact"), ("adaptive", "exact"))
    return of_kinds(cells, kinds, own_sets)


_FRACTIONS = [0.01, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4]

FIGURES = (
    Figure(
        name="anisotropic",
        title="Two normal parts that share a centre, one stretched along u*",
        claim="Recovery is easier for smaller p and for larger λ.",
        cells={
            "smoke": _cells((150,), 10, [0.1, 0.2, 0.3], [0.0, 5.0, 10.0], sets=1, own_sets=1),
            "quick": _cells(
                (700, 5000),
                200,
                [0.01, 0.05, 0.1, 0.2, 0.4],
                [0.0, 4.0, 10.0],
                sets=1,
                own_sets=1,
            ),
            "paper": _cells(
                (700, 5000),
                200,
                _FRACTIONS,
                [float(lam) for lam in range(11)],
                sets=10,
                own_sets=2,
            ),
        },
        measure=measure,
        summarise=summarise,
        draw=draw,
        judge=judge,
        deviations=(
            "The paper does not say whether the rows are whitened here. Both are run: on raw rows "
            "E max(0, t)^2 is half the variance, so that ReLU2 looks for the longest axis; on "
            "whitened rows it is 1/2 along every direction, since the law is symmetric.",
            "400 starts, batches of n drawn with replacement, eta_1 = sqrt(d) p, eta_2 = 0.5.",
            f"{OWN_ADDED} 2, on whitened rows, with -|x|, which sees a symmetric law.",
        ),
        cost=cost,
    ),
)
