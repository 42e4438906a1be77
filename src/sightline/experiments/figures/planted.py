"""What figures of planted vectors share: signals and fractions by name, one measurement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sightline.datasets import BernoulliRademacher, ImbalancedClusters, make_planted
from sightline.experiments.figure import Cell, Context
from sightline.experiments.methods import Problem, alignment, find_directions
from sightline.whitening import fit_whitening

SIGNALS: dict[str, Callable[[float], Any]] = {
    "clusters": ImbalancedClusters,
    "rademacher": BernoulliRademacher,
}

TITLES = {"clusters": "Imbalanced clusters", "rademacher": "Bernoulli-Rademacher"}

FRACTIONS: dict[str, Callable[[int], float]] = {
    "0.3": lambda _: 0.3,
    "d^-0.3": lambda d: d**-0.3,
    "d^-0.5": lambda d: d**-0.5,
    "0.1": lambda _: 0.1,
}
"""The rare fraction p as a function of d."""

PRINTED = {"0.3": "0.3", "0.1": "0.1", "d^-0.3": "$d^{-0.3}$", "d^-0.5": "$d^{-0.5}$"}
"""What pictures call them."""

OWN_INDEX = {"clusters": "relu2", "rademacher": "abs"}
"""What the library's own solver climbs."""


def signal_of(cell: Cell) -> Any:
    """Return the law of nu that a cell names by `signal`, `p` and `d`."""
    return SIGNALS[cell["signal"]](FRACTIONS[cell["p"]](cell["d"]))


def measured_alignment(
    cell: Cell,
    context: Context,
    method: str,
    rows: int,
    *,
    whiten: bool = False,
    own_whitening: str = "exact",
    **options: Any,
) -> float:
    """Return |<u_hat, u*>| of a method on one data set of some rows, whitened if that is asked.

    The data depend on the cell's `signal`, `p`, `d` and `set` and on the rows alone, so that
    methods are compared on the same data.
    """
    data = {name: cell[name] for name in ("signal", "p", "d", "set")}
    X, planted, _ = make_planted(
        rows,
        cell["d"],
        signal_of(cell),
        random_state=context.seed_of("data", data, rows),
        dtype=np.float32,
    )
    problem = Problem(
        p=FRACTIONS[cell["p"]](cell["d"]),
        seed=context.seed_of("method", cell, rows),
        adaptive_index=OWN_INDEX[cell["signal"]],
        own_whitening="none" if whiten else own_whitening,
        **options,
    )
    table = context.put(X)
    if not whiten:
        return alignment(find_directions(method, table, problem), planted)
    whitening = fit_whitening(table)
    found = find_directions(method, whitening.apply(table), problem)
    return alignment(whitening.column_weights(found), planted)
