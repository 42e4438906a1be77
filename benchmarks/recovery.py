"""What the default recovers: alignments that are asked of it, and index="auto" beside the hand.

1. d = 100: two-point clusters in 400 rows, clusters with spread in 1000, an overlapping mixture
   that carries variance in 400.
2. Three rare clusters in three directions: the ranks at which they are found among five.
3. `index="auto"` beside the index that suits, chosen by hand: it may lose 0.05 wherever that one
   reaches 0.95.

    python benchmarks/recovery.py                   # everything
    python benchmarks/recovery.py --only auto --sets 3
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from harness import print_header
from sightline.datasets import (
    BernoulliRademacher,
    GaussianMixture,
    ImbalancedClusters,
    make_planted,
)
from sightline.estimators import ProjectionPursuit

FIGURES = (
    ("two-point clusters, p = 0.1", ImbalancedClusters(0.1), 400, 1.00),
    ("clusters with spread 0.3, p = 0.1", ImbalancedClusters(0.1, 0.3), 1000, 0.99),
    ("clusters with spread 0.5, p = 0.1", ImbalancedClusters(0.1, 0.5), 1000, 0.96),
    ("0.9 N(0, 1) + 0.1 N(5, 1)", GaussianMixture(0.1, 5.0), 400, 0.94),
)

BY_HAND = (
    ("relu2", ImbalancedClusters(0.1), 300, 20),
    ("relu2", ImbalancedClusters(0.1), 250, 50),
    ("relu2", ImbalancedClusters(0.1, 0.5), 600, 30),
    ("relu2", ImbalancedClusters(0.3), 700, 30),
    ("relu2", GaussianMixture(0.1, 5.0), 600, 40),
    ("skewness", ImbalancedClusters(0.05, 0.5), 600, 20),
    ("abs", BernoulliRademacher(0.1), 400, 20),
    ("abs", BernoulliRademacher(0.1), 400, 50),
    ("abs", BernoulliRademacher(0.2, 0.3), 3000, 20),
    ("kurtosis", BernoulliRademacher(0.05), 600, 30),
    ("absmax", ImbalancedClusters(0.5), 500, 20),
    ("absmax", ImbalancedClusters(0.5, 0.4), 1500, 30),
    ("absmax", ImbalancedClusters(0.4), 800, 20),
)


def aligned(index: str, X: np.ndarray, direction: np.ndarray, seed: int) -> tuple[float, str]:
    fitted = ProjectionPursuit(index, random_state=seed).fit(X)
    return abs(float(fitted.components_[0] @ direction)), str(fitted.indices_[0])


def figures(sets: int) -> None:
    print(f"alignment of the first direction, d = 100, relu2: mean of {sets} data sets")
    for name, signal, n, least in FIGURES:
        found = []
        for seed in range(sets):
            X, direction, _ = make_planted(n, 100, signal, random_state=seed)
            found.append(aligned("relu2", X, direction, seed)[0])
        print(
            f"  {name:36s} n = {n:5d}   {np.mean(found):.4f} (least {min(found):.3f}); "
            f"asked: {least:.2f}",
            flush=True,
        )


def three_clusters(n: int, d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Three clusters of 3 % each, 6 deviations away in three orthogonal directions."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.standard_normal((d, 3)))[0].T
    X = rng.standard_normal((n, d))
    for k, direction in enumerate(directions):
        X[k::33] += 6.0 * direction
    return X, directions


def three(sets: int) -> None:
    print("three clusters of 3 %, 6 deviations off, n = 2000, d = 30: alignment and rank of each")
    for seed in range(sets):
        X, directions = three_clusters(2000, 30, seed)
        found = ProjectionPursuit(n_components=5, random_state=seed).fit(X).components_
        inner = np.abs(directions @ found.T)
        ranks = inner.argmax(axis=1) + 1
        print(f"  seed {seed}: {np.round(inner.max(axis=1), 3)}, ranks {ranks}", flush=True)


def auto(sets: int) -> None:
    print(f"index='auto' beside the one that suits: means of {sets} data sets, and who found it")
    print("   seconds are of the processor")
    for index, signal, n, d in BY_HAND:
        means, seconds, by = {}, {}, []
        for name in (index, "auto"):
            start, found = time.process_time(), []
            for seed in range(sets):
                X, direction, _ = make_planted(n, d, signal, random_state=seed)
                alignment, who = aligned(name, X, direction, seed)
                found.append(alignment)
                by += [who] if name == "auto" else []
            means[name] = float(np.mean(found))
            seconds[name] = (time.process_time() - start) / sets
        short = means[index] >= 0.95 and means["auto"] < means[index] - 0.05
        print(
            f"  {signal!s:48s} {n:5d} x {d:3d}  {index:9s}{means[index]:.3f} "
            f"({seconds[index]:.1f} s)  auto {means['auto']:.3f} ({seconds['auto']:.1f} s)  "
            f"{','.join(sorted(set(by)))}{'  short' if short else ''}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=10, help="data sets, seeds from 0")
    parser.add_argument("--only", nargs="+", default=["figures", "three", "auto"])
    options = parser.parse_args()
    print_header("Recovery", seed=0)
    parts: dict[str, Callable[[int], Any]] = {"figures": figures, "three": three, "auto": auto}
    for name in options.only:
        parts[name](options.sets)


if __name__ == "__main__":
    main()
