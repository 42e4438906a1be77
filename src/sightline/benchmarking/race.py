"""The default beside other projection-pursuit and ICA packages: time and alignment, one run.

Every package gets the same table, by its own defaults where it has them, and hands back
directions in the order in which it returns them. One that is not installed is left out with a
note. Packages that return many unordered directions leave the choice to their user, so beside the
first direction and the best of all, which only the planted truth can tell, stands the one whose
scores are the most skewed.
"""

from __future__ import annotations

import contextlib
import io
import statistics
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import stats

from sightline.benchmarking.packages import PACKAGES, Package
from sightline.benchmarking.r_packages import R_PACKAGES
from sightline.benchmarking.timing import Report, Value
from sightline.datasets import ImbalancedClusters, make_planted

ROWS, COLUMNS, FRACTION = 5000, 100, 0.1
GOAL = 0.95
"""The alignment that an answer is to have."""

Host = np.ndarray


@dataclass(slots=True)
class _Runs:
    """Seconds, and alignments of the first, the most skewed and the best direction."""

    seconds: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    skewed: list[float] = field(default_factory=list)
    best: list[float] = field(default_factory=list)

    def add(self, seconds: float, directions: Host, X: Host, planted: Host) -> None:
        unit = directions / np.linalg.norm(directions, axis=1)[:, None]
        alignments = np.abs(unit @ planted)
        self.seconds.append(seconds)
        self.first.append(float(alignments[0]))
        self.skewed.append(float(alignments[np.argmax(np.abs(stats.skew(X @ unit.T)))]))
        self.best.append(float(alignments.max()))


def peers(
    seed: int,
    rounds: int,
    *,
    rows: int = ROWS,
    columns: int = COLUMNS,
    packages: Sequence[Package] = (*PACKAGES, *R_PACKAGES),
) -> Report:
    """Give as many planted data sets as there are rounds to each package, in turns."""
    runs: dict[str, _Runs] = {}
    notes: list[str] = []
    for package in packages:
        reason = package.missing()
        if reason is None:
            runs[package.name] = _Runs()
        else:
            notes.append(f"{package.name} left out: {reason}")
    for turn in range(-1, rounds):  # the first, small one loads libraries; it is not counted
        shape = (rows, columns) if turn >= 0 else (200, 5)
        X, planted, _ = make_planted(
            *shape, ImbalancedClusters(FRACTION), random_state=seed + max(turn, 0)
        )
        for package in packages:
            if package.name not in runs:
                continue
            try:
                seconds, directions = _timed(package, X, seed + max(turn, 0))
            except Exception as error:  # a peer's to fail, not the benchmark's
                if package is packages[0]:
                    raise
                notes.append(f"{package.name} left out: {type(error).__name__}: {error}")
                del runs[package.name]
                continue
            if turn >= 0:
                runs[package.name].add(seconds, directions, X, planted)
    notes += _race(runs)
    title = (
        f"Planted clusters, {rows} x {columns} float64 rows, p = {FRACTION}, {rounds} data sets: "
        "median seconds, mean alignment"
    )
    return Report(title, _rows(runs), tuple(notes))


def _timed(package: Package, X: Host, seed: int) -> tuple[float, Host]:
    """Run a package on a copy of the table; nothing that it prints or warns of gets out."""
    own = X.copy()
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        directions, inside = package.run(own, seed)
        seconds = time.perf_counter() - start
    return (seconds if inside is None else inside), np.asarray(directions, dtype=np.float64)


def _rows(runs: dict[str, _Runs]) -> list[dict[str, Value]]:
    ours = statistics.median(next(iter(runs.values())).seconds)
    return [
        {
            "package": name,
            "seconds": statistics.median(run.seconds),
            "times ours": statistics.median(run.seconds) / ours,
            "first direction": statistics.mean(run.first),
            "most skewed direction": statistics.mean(run.skewed),
            "best of all": statistics.mean(run.best),
        }
        for name, run in runs.items()
    ]


def _race(runs: dict[str, _Runs]) -> list[str]:
    """Say who is the first to have an alignment of 0.95, in both ways of choosing."""
    notes = []
    for words, chosen in (("the first direction", "first"), ("the most skewed one", "skewed")):
        times = {
            name: statistics.median(run.seconds)
            for name, run in runs.items()
            if statistics.mean(getattr(run, chosen)) >= GOAL
        }
        order = sorted(times, key=times.__getitem__)
        shown = ", ".join(f"{name} {times[name]:.3g} s" for name in order) or "nobody"
        ratio = f"; second over first {times[order[1]] / times[order[0]]:.2f}" if order[1:] else ""
        notes.append(f"time to alignment {GOAL} in {words}: {shown}{ratio}")
    return notes
