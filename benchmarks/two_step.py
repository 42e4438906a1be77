"""A whole two-step fit against its own bare matrix products, and its peak memory.

The fit climbs 400 starts for 2 x 14 steps on batches of 2000 of 5000 rows in 100 columns, and
compares every iterate on all rows. Its bare products are the same products on the same shapes:
two a step on the batch, one an iterate on all rows. Run it as

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/two_step.py
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

import numpy as np

from harness import hardware, in_turns, print_header
from sightline import two_step_gradient_ascent
from sightline.datasets import make_planted

ROWS, COLUMNS, STARTS, STEPS, BATCH = 5000, 100, 400, 14, 2000
INDICES = ("relu2", "kurtosis", "abs", "skewness", "logcosh", "approx-entropy")


def fit(X: np.ndarray, index: str) -> object:
    return two_step_gradient_ascent(
        X,
        index=index,
        n_starts=STARTS,
        batch_size=BATCH,
        n_steps=STEPS,
        resample="replace",
        random_state=0,
    )


def bare_products(X: np.ndarray, features: int) -> None:
    directions = np.ones((STARTS, COLUMNS), dtype=X.dtype)
    batch, slopes = X[:BATCH], np.ones((BATCH, STARTS), dtype=X.dtype)
    for _ in range(2 * STEPS):
        batch @ directions.T
        for _ in range(features):
            slopes.T @ batch
        X @ directions.T
    X @ directions.T


def peak_memory() -> tuple[float, float]:
    """Return (data, peak above the start of the fit) in MB, measured in a fresh process."""
    code = (
        "import resource, numpy as np; from sightline import two_step_gradient_ascent as fit;"
        "X = np.random.default_rng(0).standard_normal((1_000_000, 100), dtype=np.float32);"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        f"fit(X, index='relu2', n_starts={STARTS}, batch_size={BATCH}, n_steps=1,"
        "resample='fresh', random_state=0);"
        "after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "print(X.nbytes / 1e6, (after - before) / 1e3)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    data, extra = map(float, out.stdout.split())
    return data, extra


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    print_header("Two-step fit over its bare matrix products", seed=0)
    results = []
    for dtype in (np.float32, np.float64):
        X, _, _ = make_planted(ROWS, COLUMNS, random_state=0)
        X = X.astype(dtype)
        for index in INDICES:
            features = 2 if index == "approx-entropy" else 1
            seconds = in_turns(
                {
                    "fit": lambda X=X, i=index: fit(X, i),
                    "bare": lambda X=X, f=features: bare_products(X, f),
                },
                options.rounds,
            )
            ratio = seconds["fit"] / seconds["bare"]
            results.append({"index": index, "dtype": X.dtype.name, **seconds, "ratio": ratio})
            print(
                f"{index:15s} {X.dtype.name}  fit {seconds['fit']:.3f} s  "
                f"bare {seconds['bare']:.3f} s  ratio {ratio:.2f}"
            )
    data, extra = peak_memory()
    print(f"\npeak memory above the data: {extra:.0f} MB for {data:.0f} MB of data")
    if options.json:
        print(json.dumps({"hardware": hardware(), "results": results, "peak": [data, extra]}))


if __name__ == "__main__":
    main()
