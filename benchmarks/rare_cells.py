"""Rare cells: does RareClusters, as it comes, find the two smallest clusters of pbmc3k?

The file is `pbmc3k.h5ad`: 2638 cells, 50 principal components in `obsm/X_pca`, and clusters in
`obs/leiden`, the smallest of 36 (dendritic) and 13 cells (megakaryocytes). Printed are, for each
seed, the sizes of what was found, and the largest F1 of a found cluster for either.

    python benchmarks/rare_cells.py pbmc3k.h5ad --json docs/results/rare-cells.json
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from anndata import read_h5ad

from harness import hardware, print_header
from sightline import RareClusters

_RARE = 50
"""Cells up to which a cluster counts as rare."""


def best_f1(found: Any, truth: Any) -> float:
    """Return the largest F1 that a found cluster has for the rows of `truth`."""
    return max(
        2 * np.count_nonzero((found == label) & truth) / (np.sum(found == label) + truth.sum())
        for label in np.unique(found)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    cells = read_h5ad(options.file)
    X = np.asarray(cells.obsm["X_pca"], dtype=np.float64)
    truth = cells.obs["leiden"].to_numpy()
    names, sizes = np.unique(truth, return_counts=True)
    rare = [(name, int(size)) for name, size in zip(names, sizes, strict=True) if size <= _RARE]
    print_header(f"Rare cells: {X.shape[0]} cells x {X.shape[1]} components", seed=0)
    print("seed  seconds  " + "  ".join(f"F1 of {size} cells" for _, size in rare) + "  sizes")
    results = []
    for seed in range(options.seeds):
        start = time.process_time()
        found = RareClusters(random_state=seed).fit(X)
        seconds = time.process_time() - start
        scores = [best_f1(found.labels_, truth == name) for name, _ in rare]
        parts = np.bincount(found.labels_).tolist()
        f1 = "  ".join(f"{score:14.3f}" for score in scores)
        print(f"{seed:4d}{seconds:9.1f}  {f1}  {parts}", flush=True)
        results.append({"seed": seed, "f1": np.round(scores, 4).tolist(), "sizes": parts})
    worst = np.min([result["f1"] for result in results], axis=0)
    print("\nleast F1: " + ", ".join(f"{score:.3f}" for score in worst))
    if options.json:
        report = {"hardware": hardware(), "rare": rare, "results": results}
        options.json.write_text(json.dumps(report) + "\n")


if __name__ == "__main__":
    main()
