"""How few rows a method needs: the least n of a ladder at which the mean alignment reaches 0.9.

For each planted problem the ladder goes down from the issue's target by factors of 2^(1/4) until
the mean over the data sets falls under 0.9. The paper's two-step algorithm spends
n_starts + 2 n s fresh rows for a batch of n; its ladder goes up over n in powers of two.

    python benchmarks/sample_efficiency.py --quick              # two cores, under ten minutes
    python benchmarks/sample_efficiency.py --device cuda --workers 8 --json results.json
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from harness import hardware, print_header
from sightline.ascent import (
    adaptive_ascent,
    default_steps,
    paper_step_sizes,
    two_step_gradient_ascent,
)
from sightline.datasets import BernoulliRademacher, ImbalancedClusters, make_planted
from sightline.whitening import fit_whitening


@dataclass(frozen=True)
class Problem:
    """A planted problem, the index that the paper gives it, and the rows to beat."""

    signal: Any
    d: int
    index: str
    target: int

    @property
    def name(self) -> str:
        return f"{type(self.signal).__name__}(p={self.signal.p:.3f}) d={self.d}"


def _problems() -> list[Problem]:
    rows = {64: 181, 128: 300, 256: 512, 512: 1100, 1024: 2048}
    found = [Problem(ImbalancedClusters(d**-0.5), d, "relu2", n) for d, n in rows.items()]
    rows = {64: 600, 128: 1448, 256: 4096, 512: 11585}
    found += [Problem(ImbalancedClusters(0.3), d, "relu2", n) for d, n in rows.items()]
    rows = {64: 256, 128: 450, 256: 724, 512: 1448, 1024: 2896}
    found += [Problem(BernoulliRademacher(d**-0.5), d, "abs", n) for d, n in rows.items()]
    sparse = ((64, 0.3, 8192), (128, 0.233, 8192), (256, 0.189, 16384))
    found += [Problem(BernoulliRademacher(p), d, "abs", n) for d, p, n in sparse]
    return [*found, Problem(ImbalancedClusters(0.44), 128, "relu2", 16384)]


def on_device(X: np.ndarray, device: str) -> Any:
    if device == "cpu":
        return X
    import torch  # noqa: PLC0415

    return torch.from_numpy(X).to(device)


def adaptive(problem: Problem, n: int, seed: int, device: str) -> float:
    X, direction, _ = make_planted(
        n, problem.d, signal=problem.signal, random_state=seed, dtype=np.float32
    )
    rows = on_device(X, device)
    whitening = fit_whitening(rows)
    found = adaptive_ascent(whitening.apply(rows), index=problem.index, random_state=seed)
    weights = whitening.column_weights(found.directions[:1, :])
    return abs(float((weights @ on_device(direction.astype(np.float32), device))[0]))


def paper(problem: Problem, n: int, seed: int, device: str) -> float:
    """Algorithm 2 on batches of n fresh rows; Bernoulli-Rademacher by x^4 and -|x|."""
    d, s = problem.d, default_steps(problem.d)
    X, direction, _ = make_planted(
        400 + 2 * n * s, d, signal=problem.signal, random_state=seed, dtype=np.float32
    )
    found = two_step_gradient_ascent(
        on_device(X, device),
        index="relu2" if problem.index == "relu2" else "kurtosis",
        batch_size=n,
        step_sizes=paper_step_sizes(d, problem.signal.p),
        random_state=seed,
    )
    return abs(float(found.direction @ on_device(direction.astype(np.float32), device)))


METHODS: dict[str, Callable[[Problem, int, int, str], float]] = {
    "adaptive": adaptive,
    "paper": paper,
}


def one(task: tuple[str, Problem, int, int, str]) -> float:
    method, problem, n, seed, device = task
    return METHODS[method](problem, n, seed, device)


def ladder(method: str, problem: Problem, most: int) -> list[int]:
    """Return the n to try, in order, until one crosses 0.9."""
    if method == "paper":
        return [n for n in (2**k for k in range(6, 20)) if n <= most]
    return [round(problem.target / 2 ** (k / 4)) for k in range(6)]


def run(options: argparse.Namespace, evaluate: Callable[..., Any]) -> list[dict[str, Any]]:
    results = []
    for problem in _problems():
        if problem.d > options.most_columns or problem.target > options.most_rows:
            continue
        for method in options.methods.split(","):
            start, least, tried = time.perf_counter(), None, {}
            for n in ladder(method, problem, options.most_batch):
                tasks = [
                    (method, problem, n, seed, options.device) for seed in range(options.sets)
                ]
                alignments = np.array(list(evaluate(one, tasks)))
                tried[n] = float(alignments.mean())
                reached = tried[n] >= 0.9
                least = n if reached else least
                if reached == (method == "paper") or time.perf_counter() - start > options.cell_s:
                    break
            seconds = time.perf_counter() - start
            shown = ", ".join(f"{n}: {mean:.3f}" for n, mean in tried.items())
            spent = (
                ""
                if method != "paper" or not least
                else (f" = {400 + 2 * least * default_steps(problem.d)} rows")
            )
            print(
                f"{problem.name:40s} {method:9s} target {problem.target:6d}  least {least}{spent}"
                f"  [{shown}]  {seconds:.0f} s",
                flush=True,
            )
            results.append(
                {
                    "problem": problem.name,
                    "d": problem.d,
                    "p": problem.signal.p,
                    "signal": type(problem.signal).__name__,
                    "method": method,
                    "target": problem.target,
                    "least": least,
                    "means": tried,
                    "seconds": seconds,
                }
            )
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small problems, 8 data sets, CPU")
    parser.add_argument("--methods", default="adaptive")
    parser.add_argument("--sets", type=int, default=30)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--most-columns", type=int, default=1024)
    parser.add_argument("--most-rows", type=int, default=10**6)
    parser.add_argument("--most-batch", type=int, default=4096)
    parser.add_argument(
        "--cell-s", type=float, default=1e9, help="seconds after which a ladder ends"
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.quick:
        options.sets, options.most_columns, options.most_rows = 8, 128, 1500
    print_header("Least rows for a mean alignment of 0.9", seed=0)
    print(
        f"  data sets: {options.sets}, seeds 0 to {options.sets - 1}; device: {options.device}\n"
    )
    if options.workers == 1:
        results = run(options, map)
    else:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(options.workers, mp_context=context) as pool:
            results = run(options, pool.map)
    if options.json:
        report = {"hardware": hardware(), "device": options.device, "results": results}
        options.json.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
