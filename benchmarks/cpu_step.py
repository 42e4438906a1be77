"""A CPU step against the rate at which the same library multiplies matrices, in the same run.

The step is the gradient of an index at m = 400 directions on n_b = 4096 rows in d = 300 columns of
float32: two products and the elementwise map between them. Two rates stand beside it: that of a
2048-cube product, which no step is fast enough to beat, and that of the step's own two products on
the whole batch, into memory that is ready. Run it as

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/cpu_step.py

With one thread, processor time is taken beside wall time: it doesn't feel what else is running.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from harness import hardware, print_header
from sightline.indices import make_index
from sightline.sphere import random_directions
from sightline.sums import index_gradients

ROWS, COLUMNS, STARTS, CUBE = 4096, 300, 400, 2048
INDICES = ("relu2", "abs", "kurtosis", "logcosh")
STEP = 4 * ROWS * COLUMNS * STARTS
TARGET = 0.95

Task = Callable[[], object]


def tasks(seed: int) -> dict[str, tuple[Task, int]]:
    """Return each task with its floating-point operations."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((ROWS, COLUMNS), dtype=np.float32)
    u = random_directions(STARTS, COLUMNS, rng).astype(np.float32)
    square = rng.standard_normal((CUBE, CUBE), dtype=np.float32)
    product = np.empty_like(square)
    scores, pull = np.empty((ROWS, STARTS), np.float32), np.empty((STARTS, COLUMNS), np.float32)

    def bare() -> None:
        np.matmul(X, u.T, out=scores)
        np.matmul(scores.T, X, out=pull)

    every: dict[str, tuple[Task, int]] = {
        "cube": (lambda: np.matmul(square, square, out=product), 2 * CUBE**3),
        "bare": (bare, STEP),
    }
    for name in INDICES:
        every[name] = (partial(index_gradients, make_index(name), u, X), STEP)
    return every


def rates(
    every: dict[str, tuple[Task, int]], rounds: int, clock: Callable[[], float]
) -> dict[str, float]:
    """Return the median rate of each task in GFLOP/s, all run in every round."""
    seconds: dict[str, list[float]] = {name: [] for name in every}
    for turn in range(rounds + 1):
        for name, (task, _) in every.items():
            start = clock()
            task()
            if turn:
                seconds[name].append(clock() - start)
    return {name: every[name][1] / statistics.median(seconds[name]) / 1e9 for name in every}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=41)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    print_header("A CPU step over the matrix-product rate", seed=options.seed)
    every = tasks(options.seed)
    results = []
    for threads, clock in ((1, time.perf_counter), (1, time.process_time), (2, time.perf_counter)):
        kind = "processor" if clock is time.process_time else "wall"
        with threadpool_limits(threads, user_api="blas"):
            found = rates(every, options.rounds, clock)
        print(f"{threads} thread(s), {kind} time: cube {found['cube']:.0f} GFLOP/s")
        for name in ("bare", *INDICES):
            of_cube, of_bare = found[name] / found["cube"], found[name] / found["bare"]
            print(
                f"  {name:9s} {found[name]:5.0f} GFLOP/s  {of_cube:.3f} of the cube's  "
                f"{of_bare:.3f} of its bare products'  (target {TARGET})"
            )
            results.append(
                {"task": name, "threads": threads, "clock": kind, "gflops": found[name],
                 "of_cube": of_cube, "of_bare": of_bare}
            )  # fmt: skip
    if options.json:
        print(json.dumps({"hardware": hardware(), "seed": options.seed, "results": results}))


if __name__ == "__main__":
    main()
