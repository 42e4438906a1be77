"""The textbook sets of projection pursuit: do the first directions part the groups?

flea: 74 beetles of three species, six measures. olive: 572 oils of three regions and nine areas,
eight fatty acids. Directions are found without labels. Printed is the share of rows that are
nearest to the mean of their own group in the first one, two and three scores, distances by the
covariance within groups; and how well the clusters of RareClusters agree with the groups (adjusted
Rand index: 1 is perfect, 0 is chance).

    python benchmarks/textbook.py DATA/classic --picture docs/images/textbook.png \\
        --json docs/results/textbook.json
"""

from __future__ import annotations

import argparse
import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import adjusted_rand_score

from harness import hardware, print_header
from sightline import ProjectionPursuit, RareClusters
from sightline.plots import ScatterDisplay

SETS = {"flea": ("species",), "olive": ("region", "area")}

SEARCHES: dict[str, dict[str, Any]] = {
    "default (relu2)": {},
    "absmax, deflated": {"index": "absmax", "whiten": "exact", "multiple": "deflate"},
}

REGIONS = {"1.0": "South", "2.0": "Sardinia", "3.0": "North"}


def read(path: Path, labels: tuple[str, ...]) -> tuple[Any, dict[str, Any]]:
    """Return the measures (n, d) and the columns of labels, without their trailing blanks."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    measures = [name for name in rows[0] if name not in labels]
    X = np.array([[float(row[name]) for name in measures] for row in rows])
    return X, {name: np.array([row[name].strip() for row in rows]) for name in labels}


def nearest(scores: Any, groups: Any) -> float:
    """Return the share of rows that are nearest to their own group's mean."""
    shares = np.full(len(np.unique(groups)), 1 / len(np.unique(groups)))
    return float(
        LinearDiscriminantAnalysis(priors=shares).fit(scores, groups).score(scores, groups)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--picture", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print_header("Textbook sets: groups in the first directions", seed=0)
    print(f"{'set':7s}{'search':20s}{'groups':10s}{'one':>7s}{'two':>7s}{'three':>7s}")
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    FigureCanvasAgg(figure)
    results = []
    for ax, (name, labels) in zip(figure.subplots(1, 2), SETS.items(), strict=True):
        X, groups = read(options.folder / f"{name}.csv", labels)
        for search, changes in SEARCHES.items():
            pursuit = ProjectionPursuit(n_components=3, random_state=0, **changes).fit(X)
            scores = pursuit.transform(X)
            for label in labels:
                shares = [nearest(scores[:, :k], groups[label]) for k in (1, 2, 3)]
                cells = "".join(f"{share:7.3f}" for share in shares)
                print(f"{name:7s}{search:20s}{label:10s}{cells}", flush=True)
                results.append([name, search, label, np.round(shares, 4).tolist()])
        found = RareClusters(random_state=0).fit(X)
        for label in labels:
            agreement = adjusted_rand_score(groups[label], found.labels_)
            print(f"{name:7s}{'RareClusters':20s}{label:10s}{agreement:7.3f} (adjusted Rand)")
            results.append([name, "RareClusters", label, round(agreement, 4)])
        shown = [REGIONS.get(group, group) for group in groups[labels[0]]]
        ScatterDisplay.from_estimator(pursuit, X, labels=shown, ax=ax)
        ax.set_title(f"{name}: {labels[0]}")
    if options.picture:
        figure.savefig(options.picture, dpi=110)
    if options.json:
        report = {"hardware": hardware(), "seed": 0, "results": results}
        options.json.write_text(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
