"""Real images and sensors, in the paper's setting: what one direction says about the labels.

Some training rows of Fashion-MNIST (600) and HAR (300) are reduced to 100 principal components,
30 directions are found without labels, a threshold on each is chosen by information gain on the
training rows, and the gain is measured on the held-out rows (in bits; one threshold has one bit to
give). Beside it: the least angle between two directions, and how many classes have one direction
with a held-out area under the ROC curve of at least 0.9.

The paper's search is ReLU2 on whitened rows, 500 starts at rows, batches with replacement of which
it keeps the 30 best of all; "on all rows" is the same on the full sample.

    python benchmarks/real_images.py DATA --json docs/results/real-images.json
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.metrics import roc_auc_score

from harness import hardware, print_header
from sightline import ProjectionPursuit
from sightline.datasets import load_fashion_mnist, load_har
from sightline.information import best_thresholds, information_gain

PAPER = {
    "solver": "two-step",
    "whiten": "exact",
    "starts": "data",
    "n_starts": 500,
    "minimum_angle": 0.0,
}

SEARCHES: dict[str, dict[str, Any]] = {
    "paper's relu2": PAPER | {"resample": "replace"},
    "paper's relu2, on all rows": PAPER | {"resample": "full"},
    "default": {},
    "default, unwhitened": {"whiten": "none"},
    "default, shrunk": {"whiten": "shrunk"},
}

SETS = {"Fashion-MNIST": (load_fashion_mnist, 600), "HAR": (load_har, 300)}


@dataclass(frozen=True, slots=True)
class Table:
    """Principal components and labels of training and held-out rows."""

    fitted: Any
    fitted_labels: Any
    held: Any
    held_labels: Any


def table_of(name: str, folder: Path, seed: int) -> Table:
    """Return the components of training rows drawn at random, and of all held-out rows."""
    load, n = SETS[name]
    data: Any = load(folder, download=False)
    chosen = np.random.default_rng(seed).permutation(len(data.X_train))[:n]
    rows = data.X_train[chosen].astype(np.float64)
    components = PCA(100, svd_solver="full").fit(rows)
    held = components.transform(data.X_test.astype(np.float64))
    return Table(components.transform(rows), data.y_train[chosen], held, data.y_test)


def judge(table: Table, directions: Any) -> tuple[float, float, float, list[float]]:
    """Return median and largest gain, least angle, and the best held-out area of each class."""
    thresholds = best_thresholds(table.fitted @ directions.T, table.fitted_labels)
    scores = table.held @ directions.T
    gains = information_gain(scores, table.held_labels, thresholds)
    cosines = np.abs(directions @ directions.T)
    np.fill_diagonal(cosines, 0)
    angle = float(np.degrees(np.arccos(min(1.0, cosines.max()))))
    areas = []
    for label in np.unique(table.held_labels):
        each = np.array([roc_auc_score(table.held_labels == label, t) for t in scores.T])
        areas.append(float(np.maximum(each, 1 - each).max()))
    return float(np.median(gains)), float(gains.max()), angle, areas


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", "[0-9]+ of n_components", UserWarning)
    print_header("Information gain on held-out rows, bits", seed=0)
    print(f"  samples of training rows: {options.seeds}, seeds 0 to {options.seeds - 1}\n")
    print(
        f"{'data':14s}{'search':28s}{'whitening':>10s}{'found':>6s}{'median':>8s}{'best':>7s}"
        f"{'angle':>7s}{'AUC>=0.9':>9s}{'s':>6s}"
    )
    results = []
    for name in SETS:
        tables = [table_of(name, options.folder, seed) for seed in range(options.seeds)]
        for search, changes in SEARCHES.items():
            start = time.process_time()
            fits = [
                ProjectionPursuit(n_components=30, random_state=seed, **changes).fit(table.fitted)
                for seed, table in enumerate(tables)
            ]
            seconds = (time.process_time() - start) / len(tables)
            judged = [
                judge(table, fit.components_) for table, fit in zip(tables, fits, strict=True)
            ]
            found = min(len(fit.components_) for fit in fits)
            median, best = (float(np.mean([one[i] for one in judged])) for i in (0, 1))
            angle = min(one[2] for one in judged)
            classes = float(np.mean([sum(area >= 0.9 for area in one[3]) for one in judged]))
            used = "/".join(sorted({fit.whiten_ for fit in fits}))
            print(
                f"{name:14s}{search:28s}{used:>10s}{found:6d}{median:8.3f}{best:7.3f}"
                f"{angle:7.1f}{classes:9.1f}{seconds:6.1f}",
                flush=True,
            )
            results.append(
                {
                    "data": name,
                    "search": search,
                    "whitening": used,
                    "least_found": found,
                    "median_gain": [round(one[0], 4) for one in judged],
                    "best_gain": [round(one[1], 4) for one in judged],
                    "least_angle": round(angle, 2),
                    "class_areas": [np.round(one[3], 3).tolist() for one in judged],
                }
            )
    if options.json:
        report = {"hardware": hardware(), "seeds": options.seeds, "results": results}
        options.json.write_text(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
