"""Cost against rows, columns and starts: time = c n d m, so slopes of 1 on log-log axes.

The cost is processor time, of all threads together: it feels less of what else is running.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from sightline.ascent import two_step_gradient_ascent
from sightline.benchmarking.timing import Report, Value, in_turns
from sightline.sphere import random_directions

BASE = {"rows": 8192, "columns": 256, "starts": 256}
"""Where the three lines cross."""

LADDERS: dict[str, Sequence[int]] = {
    "rows": (2048, 4096, 8192, 16384, 32768, 65536),
    "columns": (64, 128, 256, 512, 1024, 2048),
    "starts": (32, 64, 128, 256, 512, 1024),
}

_STEPS = 2


def cost(seed: int, rounds: int) -> Report:
    """Time a climb of 2 x 2 steps on all rows along each of the three axes."""
    rows: list[dict[str, Value]] = []
    notes = []
    for axis, sizes in LADDERS.items():
        seconds = []
        for size in sizes:
            shape = BASE | {axis: size}
            seconds.append(_seconds(**shape, seed=seed, rounds=rounds))
            rows.append({"axis": axis, **shape, "seconds": seconds[-1]})
        half = len(sizes) // 2
        notes.append(
            f"slope against {axis}: {slope(sizes, seconds):.3f}, "
            f"over the upper half {slope(sizes[half:], seconds[half:]):.3f}"
        )
    return Report(
        f"A climb of 2 x {_STEPS} steps on all rows, float32; processor seconds",
        rows,
        tuple(notes),
    )


def _seconds(*, rows: int, columns: int, starts: int, seed: int, rounds: int) -> float:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rows, columns), dtype=np.float32)
    u = random_directions(starts, columns, rng).astype(np.float32)

    def climb() -> object:
        return two_step_gradient_ascent(
            X, index="relu2", starts=u, n_starts=starts, n_steps=_STEPS, resample="full"
        )

    return in_turns({"climb": climb}, rounds, time.process_time)["climb"]


def slope(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Return b of the least-squares line log seconds = a + b log size."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
