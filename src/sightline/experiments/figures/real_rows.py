"""The paper's real data, as its experiments take them: principal components, and labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import get_data_home

from sightline._arrays import to_numpy
from sightline.datasets import load_fashion_mnist, load_har
from sightline.datasets.real import ACTIVITIES, CLOTHES, HAR, FashionMNIST
from sightline.experiments.figure import Cell, Context
from sightline.experiments.methods import Problem, find_directions
from sightline.whitening import fit_whitening

Host = np.ndarray[Any, Any]

N_STARTS = 500
"""n_init of the paper's experiments on real data."""

_P = 0.1
"""The p of the step size sqrt(d) p: nobody knows it here."""

_LOADERS: dict[str, Callable[[Path], FashionMNIST | HAR]] = {
    "fashion": load_fashion_mnist,
    "har": load_har,
}

LABELS = {"fashion": CLOTHES, "har": ACTIVITIES}
"""What the labels are called, in their order."""

TITLES = {"fashion": "Fashion-MNIST", "har": "Human activity (HAR)"}

SETTINGS = (
    "The paper does not print step sizes and steps for its real data. Here they are those of its "
    "synthetic experiments for d = 100 and p = 0.1: eta_1 = 1, eta_2 = 0.5, 2 x 14 steps, "
    "batches of n drawn with replacement.",
    "Principal components are those of the training rows in use.",
    "The library's adaptive solver is added, with relu2 and directions that keep 15 degrees from "
    "each other. It gets the principal components as they are, and chooses its own whitening.",
)
"""How all figures of real data read the paper."""


@dataclass(frozen=True, slots=True)
class RealRows:
    """Principal components and labels (0, 1, ...) of training and held-out rows."""

    train: Host
    train_labels: Host
    test: Host
    test_labels: Host


def prepare(name: str, context: Context) -> None:
    """Load a data set, or raise FileNotFoundError with the files that are needed."""
    _loaded(name, context.data_home)


@cache
def _loaded(name: str, data_home: Path | None) -> tuple[Host, Host, Host, Host]:
    data = _LOADERS[name](Path(get_data_home()) if data_home is None else data_home)
    _, labels = np.unique(np.concatenate((data.y_train, data.y_test)), return_inverse=True)
    train, test = np.split(labels, [len(data.y_train)])
    return data.X_train, train, data.X_test, test


def real_rows(cell: Cell, context: Context) -> RealRows:
    """Return the components of `cell["n"]` training rows drawn at random, and of all others."""
    seed = context.seed_of("data", {name: cell[name] for name in ("data", "n", "set")})
    return _reduced(cell["data"], context.data_home, cell["n"], cell["d"], seed)


@cache
def _reduced(name: str, data_home: Path | None, n: int, d: int, seed: int) -> RealRows:
    train, train_labels, test, test_labels = _loaded(name, data_home)
    drawn = np.sort(np.random.default_rng(seed).permutation(len(train))[:n])
    rows = train[drawn].astype(np.float32)
    varying = rows.min(axis=0) < rows.max(axis=0)
    components = fit_whitening(rows[:, varying], "none", rank=d)
    return RealRows(
        components.apply(rows[:, varying]),
        train_labels[drawn],
        components.apply(test[:, varying].astype(np.float32)),
        test_labels,
    )


def directions(cell: Cell, rows: RealRows, context: Context, count: int) -> Host:
    """Return up to `count` directions of principal components, unit rows, best first."""
    train = context.put(rows.train)
    problem = Problem(
        p=_P,
        seed=context.seed_of("method", cell),
        n_starts=cell["n_starts"],
        n_directions=count,
        own_whitening="auto",
        minimum_angle=15.0,
    )
    if cell["method"] == "adaptive":
        return find_directions("adaptive", train, problem)
    whitening = fit_whitening(train)
    found = find_directions(cell["method"], whitening.apply(train), problem)
    return to_numpy(whitening.column_weights(context.put(found)))
