"""A gradient step and a whole fit, over the bare matrix products that they cannot do without."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits

from sightline.ascent import two_step_gradient_ascent
from sightline.benchmarking.timing import Report, Value, in_turns
from sightline.datasets import make_planted
from sightline.indices import make_index
from sightline.sphere import random_directions
from sightline.sums import index_gradients

Host = np.ndarray

_STEP_ROWS, _STEP_COLUMNS, _STEP_STARTS, _CUBE = 4096, 300, 400, 2048
_STEP_INDICES = ("relu2", "abs", "kurtosis", "logcosh")

_ROWS, _COLUMNS, _STARTS, _STEPS, _BATCH = 5000, 100, 400, 14, 2000
_INDICES = ("relu2", "kurtosis", "abs", "skewness", "logcosh", "approx-entropy")

_AT_ONCE = 8
"""Steps that are timed together, as they follow each other in a climb: the first wakes threads."""

_CLOCKS = ((1, time.perf_counter), (1, time.process_time), (None, time.perf_counter))
"""BLAS threads, None for all, and the clock."""

_PAUSE = 0.1
"""Seconds after which OpenBLAS's threads have given up waiting for more; 50 ms were too few."""


def step(seed: int, rounds: int) -> Report:
    """Time gradients of 400 directions on 4096 float32 rows of 300 columns.

    On one thread processor time stands beside wall time: it feels less of what else is running.
    """
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((_STEP_ROWS, _STEP_COLUMNS), dtype=np.float32)
    u = random_directions(_STEP_STARTS, _STEP_COLUMNS, rng).astype(np.float32)
    square = rng.standard_normal((_CUBE, _CUBE), dtype=np.float32)
    scores, gradient = np.empty((_STEP_ROWS, _STEP_STARTS), np.float32), np.empty_like(u)
    product = np.empty_like(square)

    def bare() -> None:
        np.matmul(X, u.T, out=scores)
        np.matmul(scores.T, X, out=gradient)

    tasks: dict[str, Callable[[], object]] = {
        "cube": lambda: np.matmul(square, square, out=product),
        "bare products": bare,
    }
    for name in _STEP_INDICES:
        tasks[name] = partial(index_gradients, make_index(name), u, X)
    work = dict.fromkeys(tasks, 4 * _STEP_ROWS * _STEP_COLUMNS * _STEP_STARTS)
    work["cube"] = 2 * _CUBE**3
    rows: list[dict[str, Value]] = []
    for threads, clock in _CLOCKS:
        several = {name: partial(_repeated, task) for name, task in tasks.items()}
        with threadpool_limits(threads, user_api="blas"):
            seconds = in_turns(several, rounds, clock, _PAUSE)
        rates = {name: _AT_ONCE * work[name] / seconds[name] / 1e9 for name in tasks}
        rows += [
            {
                "task": name,
                "threads": "one" if threads else "all",
                "clock": "processor" if clock is time.process_time else "wall",
                "GFLOP/s": rates[name],
                "of the cube's": rates[name] / rates["cube"],
                "of the bare products'": rates[name] / rates["bare products"],
            }
            for name in tasks
        ]
    title = f"A step of {_STEP_STARTS} starts on {_STEP_ROWS} x {_STEP_COLUMNS} float32 rows"
    return Report(title, rows, (f"cube: the product of two {_CUBE}-square matrices",))


def _repeated(task: Callable[[], object]) -> None:
    for _ in range(_AT_ONCE):
        task()


def fit(seed: int, rounds: int) -> Report:
    """Time two-step fits of 400 starts over the same products on the same shapes.

    The bare products are those of the algorithm as printed. A fit makes fewer: a batch is rows of
    the table on which iterates are compared, and their scores are known from there. Both ratios
    are shown.
    """
    rows: list[dict[str, Value]] = []
    for dtype in (np.float32, np.float64):
        X = make_planted(_ROWS, _COLUMNS, random_state=seed, dtype=dtype)[0]
        tasks: dict[str, Callable[[], object]] = {}
        for name in _INDICES:
            index = make_index(name)
            tasks[name] = partial(_fit, X, name, seed)
            tasks[f"printed {index.n_features}"] = _bare_products(X, index.n_features)
        tasks["made"] = _bare_products(X, None)
        for threads, clock in _CLOCKS:
            with threadpool_limits(threads, user_api="blas"):
                seconds = in_turns(tasks, rounds, clock, _PAUSE)
            for name in _INDICES:
                index = make_index(name)
                printed = f"printed {index.n_features}"
                made = printed if index.combines else "made"
                rows.append(
                    {
                        "index": name,
                        "dtype": X.dtype.name,
                        "threads": "one" if threads else "all",
                        "clock": "processor" if clock is time.process_time else "wall",
                        "fit, s": seconds[name],
                        "bare products, s": seconds[printed],
                        "ratio": seconds[name] / seconds[printed],
                        "ratio to those made": seconds[name] / seconds[made],
                    }
                )
    data, extra = _peak_memory()
    return Report(
        f"A two-step fit of {_STARTS} starts, 2 x {_STEPS} steps on batches of {_BATCH} of "
        f"{_ROWS} x {_COLUMNS} rows",
        rows,
        (f"peak memory of a fit above its data: {extra:.0f} MB for {data:.0f} MB of data",),
    )


def _fit(X: Host, index: str, seed: int) -> object:
    return two_step_gradient_ascent(
        X,
        index=index,
        n_starts=_STARTS,
        batch_size=_BATCH,
        n_steps=_STEPS,
        resample="replace",
        random_state=seed,
    )


def _bare_products(X: Host, features: int | None) -> Callable[[], None]:
    """Return a task that multiplies, into memory that is there, as a fit has to.

    As printed: two products a step on the batch, the second one for each feature, and one an
    iterate on all rows. None is what a fit of one feature makes: the scores of the batch are among
    those of all rows, and each row that was drawn is pulled by once.
    """
    n, batch = X.shape[0], _BATCH
    distinct = round(n * (1 - (1 - 1 / n) ** batch))
    pulled = X[: distinct if features is None else batch]
    directions = np.ones((_STARTS, X.shape[1]), dtype=X.dtype)
    slopes = np.ones((pulled.shape[0], _STARTS), dtype=X.dtype)
    scores = np.empty((n, _STARTS), dtype=X.dtype)
    gradient = np.empty_like(directions)

    def multiply() -> None:
        for _ in range(2 * _STEPS):
            if features is not None:
                np.matmul(pulled, directions.T, out=scores[:batch])
            for _ in range(features or 1):
                np.matmul(slopes.T, pulled, out=gradient)
            np.matmul(X, directions.T, out=scores)
        np.matmul(X, directions.T, out=scores)

    return multiply


_MEMORY = """
import resource
import numpy as np
from sightline.ascent import two_step_gradient_ascent
X = np.random.default_rng(0).standard_normal((1_000_000, 100), dtype=np.float32)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
two_step_gradient_ascent(X, index="relu2", batch_size=2000, n_steps=1, random_state=0)
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(X.nbytes / 1e6, (after - before) / 1e3)
"""


def _peak_memory() -> tuple[float, float]:
    """Return (data, peak above the start of the fit) in MB, measured in a fresh process."""
    command = [sys.executable, "-c", _MEMORY]
    out = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    data, extra = map(float, out.stdout.split())
    return data, extra
