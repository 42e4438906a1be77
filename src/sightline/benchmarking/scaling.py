"""Cost against rows, columns and starts: time = c n d m, so slopes of 1 on log-log axes.

The cost is processor time of one thread: it feels less of what else is running. Beside it stand
the bare products on the same blocks, whose rate falls too where they are narrow.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from threadpoolctl import threadpool_limits

from sightline.ascent import two_step_gradient_ascent
from sightline.benchmarking.timing import Report, Value, in_turns
from sightline.lazy import ROW_BLOCK
from sightline.rows import row_blocks
from sightline.sphere import random_directions

BASE = {"rows": 8192, "columns": 256, "starts": 256}
"""Where the three lines cross."""

LADDERS: dict[str, Sequence[int]] = {
    "rows": (2048, 4096, 8192, 16384, 32768, 65536),
    "columns": (64, 128, 256, 512, 1024, 2048),
    "starts": (32, 64, 128, 256, 512, 1024, 2048),
}

_STEPS = 2


def cost(seed: int, rounds: int) -> Report:
    """Time a climb of 2 x 2 steps on all rows along each of the three axes."""
    rows: list[dict[str, Value]] = []
    notes = []
    for axis, sizes in LADDERS.items():
        climbs, products = [], []
        for size in sizes:
            shape = BASE | {axis: size}
            seconds = _seconds(**shape, seed=seed, rounds=rounds)
            climbs.append(seconds["climb"])
            products.append(seconds["products"])
            ratio = climbs[-1] / products[-1]
            rows.append(
                {"axis": axis, **shape, "seconds": climbs[-1], "over bare products": ratio}
            )
        half = len(sizes) // 2
        notes.append(
            f"slope against {axis}: {slope(sizes, climbs):.3f}, "
            f"over the upper half {slope(sizes[half:], climbs[half:]):.3f}; "
            f"of the bare products {slope(sizes, products):.3f}"
        )
    return Report(
        f"A climb of 2 x {_STEPS} steps on all rows, float32; processor seconds of one thread",
        rows,
        tuple(notes),
    )


def _seconds(*, rows: int, columns: int, starts: int, seed: int, rounds: int) -> dict[str, float]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns), dtype=np.float32)
    u = random_directions(starts, columns, rng).astype(np.float32)

    def climb() -> object:
        return two_step_gradient_ascent(
            X, index="relu2", starts=u, n_starts=starts, n_steps=_STEPS, resample="full"
        )

    across = np.ascontiguousarray(u.T)
    scores = np.empty((ROW_BLOCK, starts), np.float32)
    pulls = np.empty_like(across)

    def products() -> None:
        """Multiply block by block: scores of every iterate, the start's among them, and pulls."""
        for pass_ in range(2 * (_STEPS + 1)):
            for block in row_blocks(rows):
                some = X[block]
                np.matmul(some, across, out=scores[: some.shape[0]])
                if pass_ % (_STEPS + 1) < _STEPS:
                    np.matmul(some.T, scores[: some.shape[0]], out=pulls)

    with threadpool_limits(1, user_api="blas"):
        return in_turns({"climb": climb, "products": products}, rounds, time.process_time)


def slope(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return b of the least-squares line log seconds = a + b log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
