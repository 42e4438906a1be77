"""Measure the rows that each method needs: the table behind `sightline.theory.plan_samples`.

For every cell (method, signal, d, p) data sets are drawn at growing n = 2^(k/3) until all succeed
(|<u, u*>| >= 0.9) and at shrinking n until none does. A logistic curve in log n is fitted to the
successes; its middle and its width are the cell's line. Cells that the file holds are skipped, so
that a run which was stopped goes on. Data sets are the same whatever the order and the device.

    python -m benchmarks.plan_table --method two-step --dimensions 16 32 64 128
    python -m benchmarks.plan_table --method adaptive --dimensions 64 128 256 512 --device cuda

With --fresh the cells are ten others, which the fit has not seen. They go into `plan_fresh.csv`,
and what is planned for them is printed beside what was measured.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import math
import zlib
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

import sightline
from sightline._arrays import to_numpy
from sightline.ascent import default_steps, paper_step_sizes, two_step_gradient_ascent
from sightline.datasets import make_planted
from sightline.spectral import spectral_directions
from sightline.sphere import normalise
from sightline.theory.plan_fit import COLUMNS, FAMILIES, TABLE, measured_need, paper_starts
from sightline.whitening import fit_whitening

GOAL = 0.9
PER_DOUBLING = 3
INDEX = {"clusters": "relu2", "sparse": "kurtosis"}
ADAPTIVE_INDEX = {"clusters": "relu2", "sparse": "abs"}
FRACTIONS = {
    "clusters": (0.02, 0.05, 0.1, 0.2, 0.3, 0.4),
    "sparse": (0.02, 0.05, 0.1, 0.15, 0.2, 0.25),
}
FRESH_TABLE = Path(__file__).with_name("plan_fresh.csv")
FRESH = (
    *(("clusters", 24, p) for p in (0.03, 0.07, 0.15, 0.25)),
    *(("clusters", 48, p) for p in (0.03, 0.15)),
    *(("sparse", 24, p) for p in (0.07, 0.12, 0.17)),
    ("sparse", 48, 0.07),
)


class Cell(NamedTuple):
    """What is measured: one line of the table."""

    method: str
    signal: str
    d: int
    p: float


def two_step(X: Any, cell: Cell, seed: int) -> np.ndarray:
    """Run the paper's algorithm: its step sizes, and fresh batches that share out all rows."""
    found = two_step_gradient_ascent(
        X,
        index=INDEX[cell.signal],
        n_starts=paper_starts(cell.p),
        step_sizes=paper_step_sizes(cell.d, cell.p),
        random_state=seed,
    )
    return to_numpy(found.direction)


def adaptive(X: Any, cell: Cell, seed: int) -> np.ndarray:
    """Run the adaptive solver with its own settings on whitened rows."""
    whitening = fit_whitening(X)
    index = ADAPTIVE_INDEX[cell.signal]
    found = sightline.adaptive_ascent(whitening.apply(X), index=index, random_state=seed)
    return to_numpy(whitening.column_weights(found.direction[None, :]))[0]


def spectral(X: Any, cell: Cell, _seed: int) -> np.ndarray:
    """Run the spectral method of the paper that suits the signal, on whitened rows."""
    whitening = fit_whitening(X)
    found = spectral_directions(whitening.apply(X), FAMILIES[cell.signal].spectral)
    return to_numpy(whitening.column_weights(found.directions))[0]


METHODS: dict[str, Callable[[Any, Cell, int], np.ndarray]] = {
    "two-step": two_step,
    "spectral": spectral,
    "adaptive": adaptive,
}


def least_rows(cell: Cell) -> int:
    """Return the rows below which the method cannot run."""
    if cell.method == "two-step":
        return paper_starts(cell.p) + 2 * default_steps(cell.d)
    return cell.d + 2  # whitened, fewer rows look alike in every direction


def succeeds(cell: Cell, n: int, trial: int, device: str) -> bool:
    """Draw one data set of n rows and say whether the method finds its direction."""
    seed = zlib.crc32(repr((*cell, n, trial)).encode())
    law = FAMILIES[cell.signal].law(cell.p)
    X, direction, _ = make_planted(n, cell.d, law, random_state=seed, dtype=np.float32)
    if device != "cpu":
        import torch  # noqa: PLC0415  (only where a device is asked for)

        X = torch.asarray(X, device=device)
    found = normalise(METHODS[cell.method](X, cell, seed).astype(np.float64))
    return abs(float(found @ direction)) >= GOAL


class Curve:
    """Successes of one cell at the row counts that were tried."""

    def __init__(self, cell: Cell, trials: int, device: str, run: Callable[..., Any]) -> None:
        self.cell, self.trials, self.device, self.run = cell, trials, device, run
        self.tried: dict[int, list[bool]] = {}

    def rate(self, level: int, trials: int | None = None) -> float:
        """Return the rate of success at n = 2^(level / 3), of so many trials at least."""
        n = round(2 ** (level / PER_DOUBLING))
        outcomes = self.tried.setdefault(n, [])
        wanted = range(len(outcomes), trials or self.trials)
        if n < least_rows(self.cell):
            outcomes += [False for _ in wanted]
        else:
            outcomes += (
                self.run(
                    succeeds,
                    *zip(*((self.cell, n, trial, self.device) for trial in wanted), strict=True),
                )
                if wanted
                else []
            )
        return sum(outcomes) / len(outcomes)

    def walk(self, level: int, most: int) -> bool:
        """Try levels from one where all succeed to one where none does; False if over `most`."""
        while True:
            if 2 ** (level / PER_DOUBLING) > most:
                return False
            if self.rate(level, trials=2) == 0:  # far below: not worth all trials
                level += PER_DOUBLING
            elif self.rate(level) < 1:
                level += 1
            else:
                break
        while level > 0 and self.rate(level) > 0:
            level -= 1
        return True


def measure(
    cell: Cell,
    trials: int,
    most: int,
    *,
    device: str = "cpu",
    guess: float | None = None,
    run: Callable[..., Any] = map,
) -> tuple[float, float] | None:
    """Return the middle and the width of the cell's curve, or None where `most` rows fail."""
    curve = Curve(cell, trials, device, run)
    rows = max(2 * cell.d + 2 / cell.p, least_rows(cell)) if guess is None else guess
    if not curve.walk(math.ceil(PER_DOUBLING * math.log2(rows)), most):
        return None
    return logistic_fit(curve.tried)


def guess_from(known: dict[Cell, float], cell: Cell) -> float | None:
    """Return what the nearest cell of the method needs, carried over as d^1.5 p."""
    same = [other for other in known if other[:2] == cell[:2]]
    if not same:
        return None

    def distance(other: Cell) -> float:
        return abs(math.log(other.d / cell.d)) + abs(math.log(other.p / cell.p))

    nearest = min(same, key=distance)
    return known[nearest] * (cell.d / nearest.d) ** 1.5 * max(1.0, cell.p / nearest.p)


def logistic_fit(tried: dict[int, list[bool]]) -> tuple[float, float]:
    """Return n at one half and the width, in log n, of the most likely logistic curve."""
    logs = np.log(list(tried))
    hits = np.array([sum(outcomes) for outcomes in tried.values()], dtype=float)
    misses = np.array([len(outcomes) for outcomes in tried.values()]) - hits

    def loss(parameters: np.ndarray) -> float:
        z = (logs - parameters[0]) / math.exp(parameters[1])
        likelihood = hits @ np.logaddexp(0, -z) + misses @ np.logaddexp(0, z)
        # A curve that the levels step over in one has no width of its own: draw it towards 0.1.
        return float(likelihood + (parameters[1] - math.log(0.1)) ** 2)

    middle = (logs[hits > 0].min() + logs[misses > 0].max(initial=logs.min())) / 2
    best = minimize(loss, [middle, math.log(0.1)], method="Nelder-Mead")
    return math.exp(best.x[0]), math.exp(best.x[1])


def planned(cell: Cell) -> int:
    """Return the rows that the plan gives a cell, at the confidence that the table holds."""
    return measured_need(cell.method, cell.signal).rows(cell.d, cell.p, 0.5)


def known_cells(table: Path) -> dict[Cell, float]:
    """Return the rows of the cells that a table holds; a table that is not there gets a head."""
    if not table.exists():
        table.write_text(",".join(COLUMNS) + "\n")
    with table.open(newline="") as stream:
        return {
            Cell(line["method"], line["signal"], int(line["d"]), float(line["p"])): float(
                line["rows"]
            )
            for line in csv.DictReader(stream)
        }


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--method", choices=METHODS, required=True)
    parser.add_argument("--signal", choices=FAMILIES, nargs="+", default=list(FAMILIES))
    parser.add_argument("--dimensions", type=int, nargs="+", default=[16, 32, 64, 128])
    parser.add_argument("--fractions", type=float, nargs="+", help="default: the table's own")
    parser.add_argument("--fresh", action="store_true", help="the cells of plan_fresh.csv instead")
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--most", type=int, default=200_000, help="rows beyond which it gives up")
    parser.add_argument("--device", default="cpu", help="cpu, or a torch device such as cuda")
    parser.add_argument("--jobs", type=int, default=1, help="data sets at once, in processes")
    parser.add_argument("--table", type=Path, help="default: the one that the plan is made from")
    return parser.parse_args()


def wanted(options: argparse.Namespace) -> list[Cell]:
    """Return the cells that were asked for."""
    if options.fresh:
        return [Cell(options.method, *cell) for cell in FRESH]
    return [
        Cell(options.method, signal, d, p)
        for signal, d in itertools.product(options.signal, options.dimensions)
        for p in options.fractions or FRACTIONS[signal]
    ]


def main() -> None:
    options = parse()
    table = options.table or (FRESH_TABLE if options.fresh else TABLE)
    known = known_cells(table)
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        for cell in wanted(options):
            if cell in known:
                continue
            found = measure(
                cell,
                options.trials,
                options.most,
                device=options.device,
                guess=None if options.fresh else guess_from(known, cell),
                run=pool.map if options.jobs > 1 else map,
            )
            print(*cell, found, flush=True)
            if found is not None:
                known[cell] = found[0]
                with table.open("a", newline="") as stream:
                    line = (*cell, f"{found[0]:.1f}", f"{found[1]:.3f}", options.trials)
                    csv.writer(stream, lineterminator="\n").writerow(line)
    if options.fresh:
        for cell in wanted(options):
            if cell in known:
                ratio = planned(cell) / max(known[cell], cell.d + 1)
                print(*cell, f"planned {planned(cell):,}, ratio {ratio:.2f}")


if __name__ == "__main__":
    main()
