"""P-values after a search: uniform where there is nothing, small where there is, and their price.

1. `--tables` Gaussian tables of a lopsided covariance: the p-values of the best direction beside
   the uniform law on 1/(B+1), .., 1 (Kolmogorov-Smirnov, spread over the steps of the grid), for
   short searches by the two-step solver ("uniform") and for the default as it is ("default").
2. Planted clusters: alignment and power at rising numbers of rows.
3. The test of a direction known beforehand: both errors against the number of rows.
4. Seconds of a fit and of its nulls.

Run it as

    env -u OPENBLAS_CORETYPE python benchmarks/significance.py --only uniform default power
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats

from harness import print_header
from sightline._threads import one_blas_thread
from sightline.datasets import ImbalancedClusters, make_planted
from sightline.estimators import ProjectionPursuit
from sightline.indices import ReLU2
from sightline.significance import null_p_values

SEED = 0


TWO_STEP = {"solver": "two-step", "n_starts": 20, "n_steps": 4}
SEARCHES: dict[str, list[dict[str, Any]]] = {
    "two-step": [
        TWO_STEP | {"whiten": "exact"},
        TWO_STEP | {"whiten": "shrunk"},
        TWO_STEP | {"whiten": "none"},
        TWO_STEP | {"whiten": "exact", "index": "kurtosis"},
        TWO_STEP | {"whiten": "exact", "index": "abs", "starts": "union"},
    ],
    "default": [{}, {"index": "abs"}],
}
"""Options of `ProjectionPursuit` whose p-values are held against the uniform law."""


def tested_fit(
    X: np.ndarray, options: dict[str, Any], n_null: int, seed: Any
) -> tuple[ProjectionPursuit, np.ndarray]:
    """Fit and test as a user would: a pursuit, and the p-values of its directions."""
    with one_blas_thread():
        fitted = ProjectionPursuit(random_state=seed, **options).fit(X)
        return fitted, null_p_values(fitted, X, n_null=n_null, random_state=seed).p_values


def uniform(searches: str, tables: int, n_null: int = 19, n: int = 60, d: int = 4) -> None:
    print(f"p-values of the best direction, {tables} Gaussian tables of {n} x {d}, {n_null} nulls")
    mixing = np.triu(np.arange(1.0, d * d + 1).reshape(d, d))
    for options in SEARCHES[searches]:
        rng = np.random.default_rng(SEED)
        p = np.array(
            [
                tested_fit(rng.standard_normal((n, d)) @ mixing, options, n_null, rng)[1].min()
                for _ in range(tables)
            ]
        )
        spread = p - np.random.default_rng(SEED + 1).random(tables) / (n_null + 1)
        ks = stats.kstest(spread, "uniform")
        rates = ", ".join(
            f"P(p <= {a:g}) = {np.mean(p <= a + 1e-9):.3f}" for a in (0.05, 0.1, 0.5)
        )
        name = options or "the default"
        print(f"  {name}: KS {ks.statistic:.4f}, p {ks.pvalue:.3f}; {rates}", flush=True)


def power(solver: str, tables: int, spread: float, n_null: int = 39) -> None:
    d, p = 32, 0.1
    print(
        f"clusters p = {p}, spread {spread}, d = {d}: {tables} tables a row, {n_null} nulls, "
        f"{solver} solver, exact whitening"
    )
    print("     n  alignment >= 0.9  mean alignment  power at 0.05  mean p")
    for n in (45, 64, 91, 128, 181, 256):
        alignments, p_values = [], []
        for table in range(tables):
            signal = ImbalancedClusters(p, spread)
            X, direction, _ = make_planted(n, d, signal, random_state=table)
            options = {"solver": solver, "whiten": "exact"}
            fitted, tested = tested_fit(X, options, n_null, table)
            alignments.append(abs(fitted.components_[0] @ direction))
            p_values.append(tested[0])
        a, q = np.array(alignments), np.array(p_values)
        print(
            f"{n:6d}  {np.mean(a >= 0.9):16.2f}  {a.mean():14.2f}  {np.mean(q <= 0.05):13.2f}"
            f"  {q.mean():6.3f}",
            flush=True,
        )


def errors(samples: int, d: int = 64, alignment: float = 0.9) -> None:
    """The scores of a planted row along u are a nu + sqrt(1 - a^2) g: no rows are needed."""
    rng, relu2 = np.random.default_rng(SEED), ReLU2()
    print(f"test Psi, d = {d}, alignment {alignment}, {samples} samples: least sum of both errors")
    for p in (d**-0.5, 0.3):
        rows, sums = [], []
        for n in range(d // 2, 6 * d + 1, d // 2):
            null, planted = np.empty(samples), np.empty(samples)
            for i in range(samples):
                g = rng.standard_normal((2, n))
                nu = ImbalancedClusters(p).sample(n, rng)[0]
                z = stats.zscore(
                    np.stack((g[0], alignment * nu + np.sqrt(1 - alignment**2) * g[1])), axis=1
                )
                null[i], planted[i] = relu2.value_of_sample(z.T, np)
            both = np.sort(np.concatenate((null, planted)))
            first = 1 - np.searchsorted(np.sort(null), both) / samples
            second = np.searchsorted(np.sort(planted), both) / samples
            rows.append(n / d)
            sums.append(float(np.min(first + second)))
            if sums[-1] < 20 / samples:
                break
        slope = np.polyfit(rows, np.log(np.maximum(sums, 1 / samples)), 1)[0]
        line = ", ".join(f"{x:g}: {s:.4f}" for x, s in zip(rows, sums, strict=True))
        print(
            f"  p = {p:.3f}, n/d: error sum   {line}\n    log of it falls by {-slope:.2f} per n/d"
        )


def price(n_null: int, n: int = 5000, d: int = 100) -> None:
    X = make_planted(n, d, random_state=SEED)[0]
    noise = np.random.default_rng(SEED).standard_normal((n, d))
    print(f"n = {n}, d = {d}; seconds, and seconds of processor time in this process")
    for solver, name, table in (
        ("two-step", "planted", X),
        ("adaptive", "planted", X),
        ("adaptive", "noise", noise),
    ):
        start, worked = time.perf_counter(), time.process_time()
        fitted = ProjectionPursuit(solver=solver, random_state=SEED).fit(table)
        seconds, worked = time.perf_counter() - start, time.process_time() - worked
        print(f"  {solver}, {name}: a fit {seconds:.1f} ({worked:.1f})", flush=True)
        for jobs in (1, -1):
            start, worked = time.perf_counter(), time.process_time()
            tested = null_p_values(fitted, table, n_null=n_null, random_state=SEED, n_jobs=jobs)
            seconds, worked = time.perf_counter() - start, time.process_time() - worked
            cpu = f" ({worked:.0f})" if jobs == 1 else ""
            print(f"    n_jobs={jobs}: {n_null} nulls {seconds:.0f}{cpu}", flush=True)
        print(f"    p-value {tested.p_values[0]:.3g}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=100, help="Gaussian tables; 500 is the full")
    parser.add_argument(
        "--planted", type=int, default=10, help="planted tables a row of the power"
    )
    parser.add_argument("--samples", type=int, default=4000, help="samples of the test's errors")
    parser.add_argument("--nulls", type=int, default=9, help="nulls that are timed")
    parser.add_argument(
        "--only", nargs="+", default=["uniform", "default", "power", "errors", "time"]
    )
    options = parser.parse_args()
    print_header("Significance", SEED)
    parts: dict[str, Callable[[], object]] = {
        "uniform": lambda: uniform("two-step", options.tables),
        "default": lambda: uniform("default", options.tables),
        "power": lambda: [
            power(solver, options.planted, spread)
            for solver in ("two-step", "adaptive")
            for spread in (0.0, 0.5)
        ],
        "errors": lambda: errors(options.samples),
        "time": lambda: price(options.nulls),
    }
    for name in options.only:
        parts[name]()


if __name__ == "__main__":
    main()
