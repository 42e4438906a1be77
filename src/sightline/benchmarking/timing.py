"""Timing in turns, medians of many, and what a benchmark hands back."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Value = str | int | float | None


@dataclass(frozen=True, slots=True)
class Report:
    """The result of a benchmark.

    Attributes
    ----------
    title : what was measured, in words.
    rows : one a line of the table, all with the same keys.
    notes : sentences beside it.
    """

    title: str
    rows: list[dict[str, Value]]
    notes: tuple[str, ...] = ()


def in_turns(
    tasks: Mapping[str, Callable[[], object]],
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
    pause: float = 0.0,
) -> dict[str, float]:
    """Return the median seconds of each task, all run in every round: noise hits all alike.

    A first run of each is not counted: it loads libraries and touches memory. A pause before each
    lets threads of the last one fall asleep: those of BLAS wait for more work in a loop, and hold
    a core meanwhile.
    """
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for task in tasks.values():
        task()
    for _ in range(rounds):
        for name, task in tasks.items():
            time.sleep(pause)
            start = clock()
            task()
            times[name].append(clock() - start)
    return {name: statistics.median(seconds) for name, seconds in times.items()}
