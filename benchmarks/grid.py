"""The default against the paper's algorithm, spectral methods and FastICA, on a grid of problems.

Planted clusters and Bernoulli-Rademacher vectors in d = 16 to 512 columns, the paper's three
fractions p, and n = d 2^k rows over five octaves around the transition: from two octaves below
the least n at which the default reaches a mean alignment of 0.9 on two data sets to three above
it. Every data set is given to every method; data set t of a cell has seed t. A cell in which the
default is more than 0.05 below the best of the others is marked, and is given more data sets by
`--settle`.

A measurement is a JSON line, appended when it is made: a run that was stopped goes on.

    python benchmarks/grid.py --quick
    python benchmarks/grid.py --dimensions 16 32 64 128 --sets 4 --file grid.jsonl
    python benchmarks/grid.py --dimensions 16 32 64 128 --sets 4 --settle 16 --file grid.jsonl
    python benchmarks/grid.py --file grid.jsonl --table --json docs/results/grid.json
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.decomposition import FastICA

from harness import hardware, print_header
from sightline import ProjectionPursuit, SpectralPursuit
from sightline.ascent import default_steps, paper_step_sizes, two_step_gradient_ascent
from sightline.datasets import BernoulliRademacher, ImbalancedClusters, make_planted
from sightline.indices import make_index
from sightline.theory.plan_fit import paper_starts

SIGNALS: dict[str, Callable[[float], Any]] = {
    "clusters": ImbalancedClusters,
    "sparse": BernoulliRademacher,
}
FRACTIONS = {
    "d^-0.5": lambda d: d**-0.5,
    "d^-0.3": lambda d: d**-0.3,
    "0.3": lambda _: 0.3,
}
DIMENSIONS = (16, 32, 64, 128, 256, 512)
INDEX = {"clusters": "relu2", "sparse": "abs"}
PAPER_INDEX = {"clusters": "relu2", "sparse": "kurtosis"}
GOAL, SHORT = 0.9, 0.05
BELOW, ABOVE = 2, 3


class Cell(NamedTuple):
    """A problem and the rows that are given for it."""

    signal: str
    p: str
    d: int
    n: int

    @property
    def fraction(self) -> float:
        return FRACTIONS[self.p](self.d)


def default(X: np.ndarray, cell: Cell, seed: int) -> np.ndarray:
    return ProjectionPursuit(INDEX[cell.signal], random_state=seed).fit(X).components_[0]


def fresh(X: np.ndarray, cell: Cell, seed: int) -> np.ndarray | None:
    """Run Algorithm 2 as printed: all rows shared out among the starts and the batches."""
    starts = paper_starts(cell.fraction)
    if cell.n < starts + 2 * default_steps(cell.d):
        return None
    return two_step_gradient_ascent(
        X,
        index=PAPER_INDEX[cell.signal],
        n_starts=starts,
        step_sizes=paper_step_sizes(cell.d, cell.fraction),
        random_state=seed,
    ).direction


def replace(X: np.ndarray, cell: Cell, seed: int) -> np.ndarray:
    """Run Algorithm 2 as in the paper's comparison: batches of n, drawn with replacement."""
    return two_step_gradient_ascent(
        X,
        index=PAPER_INDEX[cell.signal],
        step_sizes=paper_step_sizes(cell.d, cell.fraction),
        resample="replace",
        random_state=seed,
    ).direction


def spectral(method: str) -> Callable[[np.ndarray, Cell, int], np.ndarray | None]:
    def run(X: np.ndarray, cell: Cell, _seed: int) -> np.ndarray | None:
        if cell.n <= cell.d + 1:  # whitened, every direction would look alike
            return None
        return SpectralPursuit(method).fit(X).components_[0]

    return run


def signed_square(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return |t|, the slope of relu2 on whitened rows, and the mean of its derivative."""
    return np.abs(scores), np.mean(np.sign(scores), axis=-1)


def fast_ica(X: np.ndarray, cell: Cell, seed: int) -> np.ndarray | None:
    """Run scikit-learn's FastICA and choose its best component by the default's index.

    Its contrast is the index itself for clusters, which did better than "exp", "logcosh", "cube"
    and t^3 in three cells, and log cosh, the smooth |t|, for sparse vectors. In float32 its
    decorrelation ends in NaN more often than not; so it is given float64.
    """
    ica = FastICA(
        n_components=min(cell.d, cell.n - 1),
        fun=signed_square if cell.signal == "clusters" else "logcosh",
        random_state=seed,
    )
    try:
        scores = ica.fit_transform(X.astype(np.float64))
    except ValueError:  # NaN inside: hardly more rows than columns
        return None
    scores = scores / scores.std(axis=0)
    psi = make_index(INDEX[cell.signal])
    values = np.maximum(psi.value_of_sample(scores, np), psi.value_of_sample(-scores, np))
    return ica.components_[int(np.argmax(values))]


METHODS: dict[str, Callable[[np.ndarray, Cell, int], np.ndarray | None]] = {
    "default": default,
    "fresh": fresh,
    "replace": replace,
    "cov4max": spectral("cov4max"),
    "cov4min": spectral("cov4min"),
    "max-skew": spectral("max-skew"),
    "fastica": fast_ica,
}


class Measurements:
    """Alignments by cell and method, in the order of their seeds; a file of JSON lines."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.known: dict[tuple[Cell, str, int], float | None] = {}
        if path.exists():
            for line in map(json.loads, path.read_text().splitlines()):
                cell = Cell(*(line[name] for name in Cell._fields))
                self.known[cell, line["method"], line["seed"]] = line["alignment"]

    def measure(self, cell: Cell, method: str, seed: int) -> float | None:
        """Return |<u, u*>|, from the file if it is there; None where the method cannot run."""
        key = (cell, method, seed)
        if key not in self.known:
            law = SIGNALS[cell.signal](cell.fraction)
            X, direction, _ = make_planted(
                cell.n, cell.d, law, random_state=seed, dtype=np.float32
            )
            began = time.perf_counter()
            with warnings.catch_warnings():  # FastICA says where it has not converged
                warnings.simplefilter("ignore")
                found = METHODS[method](X, cell, seed)
            seconds = time.perf_counter() - began
            self.known[key] = None if found is None else _alignment(found, direction)
            line = cell._asdict() | {
                "method": method,
                "seed": seed,
                "alignment": self.known[key],
                "seconds": round(seconds, 3),
            }
            with self.path.open("a") as stream:
                stream.write(json.dumps(line) + "\n")
        return self.known[key]

    def sets(self, cell: Cell) -> int:
        """Return how many data sets every method was run on."""
        return next(
            seed
            for seed in itertools.count()
            if any((cell, method, seed) not in self.known for method in METHODS)
        )

    def of(self, cell: Cell, method: str) -> list[float]:
        """Return the alignments of a cell and a method by seed; none where it cannot run."""
        values = [self.known[cell, method, seed] for seed in range(self.sets(cell))]
        return [] if None in values else values

    def cells(self) -> list[Cell]:
        """Return the cells that every method was run on, in order."""
        found = {cell for cell, _, _ in self.known}
        done = [cell for cell in found if self.sets(cell) > 1]
        return sorted(done, key=lambda c: (c.signal, list(FRACTIONS).index(c.p), c.d, c.n))


def _alignment(found: np.ndarray, direction: np.ndarray) -> float:
    unit = found.astype(np.float64) / np.linalg.norm(found.astype(np.float64))
    return round(abs(float(unit @ direction)), 4)


def levels(measurements: Measurements, signal: str, p: str, d: int, most: int) -> Iterator[Cell]:
    """Yield the cells around the transition that have at most so many rows."""
    k = 0
    while d * 2**k <= most:
        cell = Cell(signal, p, d, d * 2**k)
        if np.mean([measurements.measure(cell, "default", seed) for seed in (0, 1)]) >= GOAL:
            break
        k += 1
    for octave in range(k - BELOW, k + ABOVE + 1):
        if d * 2**octave <= most:
            yield Cell(signal, p, d, round(d * 2.0**octave))


def shortfall(measurements: Measurements, cell: Cell) -> tuple[str, float, float]:
    """Return the best other method, how far the default's mean is below its, and its error.

    The standard error is that of the mean difference on the same data sets.
    """
    means = {
        method: float(np.mean(values))
        for method in METHODS
        if (values := measurements.of(cell, method))
    }
    ours = means.pop("default")
    best = max(means, key=means.__getitem__)
    gaps = np.subtract(measurements.of(cell, best), measurements.of(cell, "default"))
    return best, means[best] - ours, float(gaps.std(ddof=1) / np.sqrt(gaps.size))


def run(measurements: Measurements, options: argparse.Namespace) -> None:
    """Measure dimension after dimension; settle what looks short."""
    for d, signal, p in itertools.product(options.dimensions, SIGNALS, FRACTIONS):
        for cell in levels(measurements, signal, p, d, options.most_rows):
            for seed, method in itertools.product(range(options.sets), METHODS):
                measurements.measure(cell, method, seed)
            if options.settle > options.sets and shortfall(measurements, cell)[1] > SHORT:
                for seed, method in itertools.product(range(options.settle), METHODS):
                    measurements.measure(cell, method, seed)
            print(line_of(measurements, cell), flush=True)


def heading() -> str:
    columns = "".join(f"{method:>9s}" for method in METHODS)
    return f"{'signal':9s}{'p':>7s}{'d':>5s}{'n':>7s}{'sets':>5s}{columns}"


def line_of(measurements: Measurements, cell: Cell) -> str:
    """Return the cell's line of the table, marked where the default is short."""
    means = []
    for method in METHODS:
        values = measurements.of(cell, method)
        means.append(f"{np.mean(values):9.3f}" if values else f"{'-':>9s}")
    sets = measurements.sets(cell)
    best, missing, error = shortfall(measurements, cell)
    mark = f"  short of {best} by {missing:.3f} +- {error:.3f}" if missing > SHORT else ""
    return f"{cell.signal:9s}{cell.p:>7s}{cell.d:5d}{cell.n:7d}{sets:5d}{''.join(means)}{mark}"


def as_json(measurements: Measurements) -> dict[str, Any]:
    cells = [
        cell._asdict()
        | {"alignments": {method: measurements.of(cell, method) for method in METHODS}}
        for cell in measurements.cells()
    ]
    return {"hardware": hardware(), "dtype": "float32", "cells": cells}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dimensions", type=int, nargs="+", default=list(DIMENSIONS))
    parser.add_argument("--sets", type=int, default=30, help="data sets a cell, seeds from 0")
    parser.add_argument("--settle", type=int, default=0, help="data sets where it looks short")
    parser.add_argument("--most-rows", type=int, default=2**17)
    parser.add_argument("--quick", action="store_true", help="d = 16 and 32, two data sets")
    parser.add_argument("--file", type=Path, default=Path("grid.jsonl"), help="measurements")
    parser.add_argument("--table", action="store_true", help="print what the file holds, no more")
    parser.add_argument("--json", type=Path, help="write all alignments, cell by cell")
    options = parser.parse_args()
    if options.quick:
        options.dimensions, options.sets, options.most_rows = [16, 32], 2, 8192
    print_header("Mean alignment of the first direction", seed=0)
    measurements = Measurements(options.file)
    print(heading(), flush=True)
    if not options.table:
        run(measurements, options)
    else:
        for cell in measurements.cells():
            print(line_of(measurements, cell))
    cells = measurements.cells()
    short = [cell for cell in cells if shortfall(measurements, cell)[1] > SHORT]
    print(f"\n{len(short)} of {len(cells)} cells: default more than {SHORT} below the best")
    if options.json:
        options.json.write_text(json.dumps(as_json(measurements)) + "\n")


if __name__ == "__main__":
    main()
