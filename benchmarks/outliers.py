"""Outliers: ProjectionOutliers beside what people use, set by set, each with its defaults.

Sets are the `.npz` files of ADBench (arrays X and y, 1 = outlier) in a folder. Each is split five
times into 70 rows for fitting, without labels, and 30 to be judged, in the shares of the labels.
Columns are standardised by the rows of the fit, for all detectors alike. Printed is the mean area
under the ROC curve and the rank among the detectors.

    python benchmarks/outliers.py ../shared/data/adbench --json docs/results/outliers.json
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from pyod.models.copod import COPOD
from pyod.models.ecod import ECOD
from scipy.stats import rankdata
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import StandardScaler

from harness import hardware, print_header
from sightline import ProjectionOutliers

Scorer = Callable[[Any, Any], Any]


def from_sklearn(detector: Any) -> Scorer:
    return lambda fitted, judged: -detector.fit(fitted).score_samples(judged)


def from_pyod(detector: Any) -> Scorer:
    return lambda fitted, judged: detector.fit(fitted).decision_function(judged)


DETECTORS: dict[str, Callable[[int], Scorer]] = {
    "sightline": lambda seed: from_sklearn(ProjectionOutliers(random_state=seed)),
    "IsolationForest": lambda seed: from_sklearn(IsolationForest(random_state=seed)),
    "ECOD": lambda seed: from_pyod(ECOD()),  # noqa: ARG005  (it draws nothing)
    "COPOD": lambda seed: from_pyod(COPOD()),  # noqa: ARG005
    "LOF": lambda seed: from_sklearn(LocalOutlierFactor(novelty=True)),  # noqa: ARG005
    "EllipticEnvelope": lambda seed: from_sklearn(EllipticEnvelope(random_state=seed)),
}


def one_set(path: Path, splits: int) -> tuple[tuple[int, ...], list[float], list[float]]:
    """Return the shape of a set, and areas and seconds of a fit and its scores, by detector."""
    with np.load(path) as arrays:
        X, y = arrays["X"].astype(np.float64), arrays["y"]
    areas = np.zeros((splits, len(DETECTORS)))
    seconds = np.zeros_like(areas)
    for seed in range(splits):
        fitted, judged, _, truth = train_test_split(
            X, y, test_size=0.3, stratify=y, random_state=seed
        )
        scaler = StandardScaler().fit(fitted)
        fitted, judged = scaler.transform(fitted), scaler.transform(judged)
        for column, make in enumerate(DETECTORS.values()):
            start = time.perf_counter()
            far = make(seed)(fitted, judged)
            seconds[seed, column] = time.perf_counter() - start
            areas[seed, column] = roc_auc_score(truth, far)
    return X.shape, areas.mean(axis=0).tolist(), np.median(seconds, axis=0).tolist()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # constant columns, singular covariances: the peers' own words
    print_header("Outliers: area under the ROC curve (rank), means over splits", seed=0)
    print(f"  splits: {options.splits}, seeds 0 to {options.splits - 1}\n")
    print(f"{'set':20s}{'rows x columns':>15s}" + "".join(f"{name:>18s}" for name in DETECTORS))
    rows = []
    for path in sorted(options.folder.glob("*.npz")):
        shape, areas, seconds = one_set(path, options.splits)
        ranks = rankdata(-np.round(areas, 4)).tolist()
        rows.append([path.stem, shape, areas, ranks, seconds])
        cells = (f"{a:.3f} ({r:g})".rjust(18) for a, r in zip(areas, ranks, strict=True))
        print(f"{path.stem:20s}{'x'.join(map(str, shape)):>15s}" + "".join(cells), flush=True)
    summary = {}
    for row, (title, place) in enumerate((("area", 2), ("rank", 3), ("seconds", 4))):
        table = np.array([cells[place] for cells in rows])
        means = table.max(axis=0) if title == "seconds" else table.mean(axis=0)
        label = "slowest set, s" if title == "seconds" else f"mean {title}"
        summary[label] = dict(zip(DETECTORS, np.round(means, 3).tolist(), strict=True))
        print("\n" * (row == 0) + f"{label:35s}" + "".join(f"{mean:18.2f}" for mean in means))
    if options.json:
        sets = [
            {"set": name, "shape": shape, "area": np.round(a, 4).tolist(), "rank": r}
            for name, shape, a, r, _ in rows
        ]
        report = {"hardware": hardware(), "splits": options.splits, "detectors": list(DETECTORS)}
        options.json.write_text(json.dumps(report | {"means": summary, "sets": sets}) + "\n")


if __name__ == "__main__":
    main()
