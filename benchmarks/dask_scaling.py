"""Dask on worker processes of this machine: overhead a step, weak scaling, and workers that die.

- Overhead: the median time of a step of a table so small that its products take next to nothing,
  on two workers, from one report of progress to the next.
- Weak scaling: the median time of a step on one worker, over that on two with twice the rows;
  beside it the same of bare products without Dask, and of the workers' processor time.
- Deaths: a two-step fit during which workers are killed by SIGKILL, 20 in all, one at a time; all
  of them at once; one that is stopped by SIGSTOP. Each must end with the bits of NumPy.

Scheduler and workers listen on the loopback interface. Run it as

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/dask_scaling.py
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import signal
import statistics
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import dask
import dask.array as da
import distributed
import numpy as np
from threadpoolctl import threadpool_limits

from harness import hardware, print_header
from sightline import ProjectionPursuit, resumable
from sightline.datasets import make_planted

UNIT = 4096
LIMITS = {"distributed.scheduler.worker-ttl": "10s"}


def cluster(workers: int) -> distributed.LocalCluster:
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
    )


def pursuit(starts: int, steps: int) -> ProjectionPursuit:
    return ProjectionPursuit(solver="two-step", n_starts=starts, n_steps=steps, random_state=0)


def step_seconds(X: object, starts: int, steps: int) -> float:
    """Return the median time of a step: the values and gradients of one pass over the rows."""
    marks: list[tuple[int, float]] = []
    with resumable(progress=lambda step, _: marks.append((step, time.perf_counter()))):
        pursuit(starts, steps).fit(X)
    # The last step of a run has no gradient to follow.
    pairs = itertools.pairwise(marks)
    return statistics.median(b[1] - a[1] for a, b in pairs if a[0] + 1 == b[0] < steps)


def overhead(steps: int) -> float:
    X = da.from_array(make_planted(8 * UNIT, 10, random_state=0)[0], chunks=(UNIT, 10))
    with cluster(2) as workers, distributed.Client(workers):
        return step_seconds(X, 4, steps)


def weak_scaling(rows: int, starts: int, steps: int, rounds: int) -> dict[str, object]:
    """Return what a step takes on one worker with so many rows, and on two with twice as many.

    Beside it, what bare products take in one process and in two at once, in turns with it: two
    cores that share a memory, and are shared with other work, don't do twice the work of one.
    """
    found: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        found.setdefault(name, []).append(value)

    for _ in range(rounds):
        for name, workers in (("one", 1), ("two", 2)):
            X = da.random.default_rng(0).standard_normal(
                (workers * rows, 100), chunks=(rows // 8, 100), dtype="f4"
            )
            with cluster(workers) as some, distributed.Client(some) as client:
                before = sum(client.run(time.process_time).values())
                note(name, step_seconds(X, starts, steps))
                after = sum(client.run(time.process_time).values())
                note(f"{name}_processor_of_fit_a_worker", (after - before) / workers)
            note(f"{name}_bare", bare_seconds(workers, rows, starts))
    medians = {name: statistics.median(values) for name, values in found.items()}
    processor = "{}_processor_of_fit_a_worker"
    return medians | {
        "ratio": medians["one"] / medians["two"],
        "bare_ratio": medians["one_bare"] / medians["two_bare"],
        "processor_ratio": medians[processor.format("one")] / medians[processor.format("two")],
    }


def bare_seconds(processes: int, rows: int, starts: int) -> float:
    """Return the time of a step's products in so many processes at once, by the last to end."""
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        list(pool.map(_products, [1] * processes, [UNIT] * processes, [starts] * processes))
        start = time.perf_counter()
        list(pool.map(_products, [4] * processes, [rows] * processes, [starts] * processes))
        return (time.perf_counter() - start) / 4


def _products(times: int, rows: int, starts: int) -> None:
    block = np.ones((512, 100), np.float32)
    directions = np.ones((100, starts), np.float32)
    scores, pulls = np.empty((512, starts), np.float32), np.empty((100, starts), np.float32)
    with threadpool_limits(1):
        for _ in range(times * rows // 512):
            np.matmul(block, directions, out=scores)
            np.matmul(block.T, scores, out=pulls)


def send(workers: distributed.LocalCluster, times: int, what: int, *, everyone: bool) -> int:
    """Send a signal to one worker, or to all that there are, by their process ids."""
    pids = [nanny.pid for nanny in workers.workers.values() if nanny.status.name == "running"]
    chosen = [pid for pid in pids if pid][: times if everyone else 1]
    for pid in chosen:
        os.kill(pid, what)
    return len(chosen)


def survive(times: int, what: int, *, everyone: bool, steps: int) -> dict[str, object]:
    """Fit while workers die: every fifth step, so that as many as `times` die before the end."""
    X = make_planted(16 * UNIT, 10, random_state=1)[0]
    expected = pursuit(50, steps).fit(X)
    sent = 0

    with cluster(2) as workers, distributed.Client(workers):

        def strike(step: int, _: int) -> None:
            nonlocal sent
            if step % 5 == 0 and sent < times:
                timer = threading.Timer(0.05, report_strike)  # in the midst of the next step
                timer.start()

        def report_strike() -> None:
            nonlocal sent
            sent += send(workers, times - sent, what, everyone=everyone)

        start = time.perf_counter()
        with resumable(progress=strike):
            found = pursuit(50, steps).fit(da.from_array(X, chunks=(UNIT, 10)))
        seconds = time.perf_counter() - start
    names = ("components_", "index_values_", "standard_values_", "mean_")
    equal = all(np.array_equal(getattr(found, n), getattr(expected, n)) for n in names)
    return {"sent": sent, "seconds": seconds, "equal": equal}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=2**18, help="rows a worker, weak scaling")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-deaths", action="store_true", help="measure times alone")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    print_header("Dask on this machine", seed=0)
    results: dict[str, object] = {"dask": dask.__version__, "distributed": distributed.__version__}

    seconds = overhead(40)
    results["overhead_ms"] = 1e3 * seconds
    print(f"overhead: {1e3 * seconds:.1f} ms a step (target: under 30)", flush=True)

    scaling = weak_scaling(options.rows, 100, 8, options.rounds)
    results["weak_scaling"] = scaling
    print(
        f"weak scaling: {scaling['one']:.2f} s on one, {scaling['two']:.2f} s on two with twice "
        f"the rows: {scaling['ratio']:.2f} (target: 0.85); bare products in two processes: "
        f"{scaling['bare_ratio']:.2f}; processor time a worker: {scaling['processor_ratio']:.2f}",
        flush=True,
    )
    deaths: dict[str, Callable[[], dict[str, object]]] = {
        "20 killed": lambda: survive(20, signal.SIGKILL, everyone=False, steps=80),
        "all at once": lambda: survive(2, signal.SIGKILL, everyone=True, steps=20),
        "one hung": lambda: survive(1, signal.SIGSTOP, everyone=False, steps=20),
    }
    for name, death in () if options.no_deaths else deaths.items():
        # A short limit for all would lose live workers on a busy machine.
        with dask.config.set(LIMITS if name == "one hung" else {}):
            results[name] = outcome = death()
        print(f"{name}: {outcome}", flush=True)
    if options.json:
        results |= {"hardware": hardware(), "seed": 0}
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
