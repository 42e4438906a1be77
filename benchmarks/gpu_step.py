"""Every figure of the accelerated step, on the GPU of this machine, beside its target.

    python benchmarks/gpu_step.py --json gpu-step.json

It needs torch with CUDA, Triton, and about 20 GB of device memory, and takes a few minutes, most
of them the one fit on the CPU that the fit on the GPU is compared with (`--no-cpu` leaves it out).
A step on n rows of d columns for m starts is 4 n d m operations, whatever the kernels pad.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np
import torch
import triton

from harness import hardware, print_header
from sightline import adaptive_ascent
from sightline.datasets import ImbalancedClusters, make_planted
from sightline.indices import make_index
from sightline.kernels.fused import FusedStep
from sightline.kernels.plain import PlainStep

ROWS, STARTS, CUBE = 2**20, 512, 8192
COLUMNS = (100, 128, 300, 784)
INDICES = ("relu2", "abs", "kurtosis", "logcosh")
FIT_ROWS, FIT_COLUMNS, FIT_STARTS = 1_000_000, 100, 500
OF_THE_CUBE = {100: 0.6, 128: 0.8, 300: 0.6, 784: 0.6}
OVER_UNFUSED = {100: 3.0, 128: 3.0, 300: 1.5, 784: 1.5}
KINDS = {"bf16": torch.bfloat16, "tf32": torch.float32}


def seconds(task: Callable[[], object], rounds: int) -> float:
    """Return the median time of a task by the device's own clock."""
    for _ in range(3):
        task()
    times = []
    for _ in range(rounds):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        task()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return statistics.median(times)


def cube_rate(dtype: torch.dtype, rounds: int) -> float:
    a, b = (torch.randn(CUBE, CUBE, device="cuda", dtype=dtype) for _ in range(2))
    return 2 * CUBE**3 / seconds(lambda: a @ b, rounds)


def steps(rounds: int) -> list[dict[str, object]]:
    """Time a step of each index, kind and width, and compare it with float64 on some rows."""
    torch.set_float32_matmul_precision("high")
    cubes = {kind: cube_rate(dtype, rounds) for kind, dtype in KINDS.items()}
    results: list[dict[str, object]] = []
    for d in COLUMNS:
        X = torch.randn(ROWS, d, device="cuda")
        u = torch.nn.functional.normalize(torch.randn(STARTS, d, device="cuda"), dim=1)
        work = 4 * ROWS * d * STARTS
        for name in INDICES:
            index = make_index(name)
            plain = PlainStep(None, index, u)
            blocks = X.split(65536)
            unfused = seconds(lambda p=plain, b=blocks: [p(rows) for rows in b], rounds)
            exact = PlainStep(None, index, u.double())(X[:4096].double()).pulls
            for kind, dtype in KINDS.items():
                step = FusedStep(None, index, u, dtype)
                table = step.table(X)
                took = seconds(lambda s=step, t=table: s(t), rounds)
                off = step(table[:4096]).pulls.double() - exact
                row = {
                    "d": d, "index": name, "kind": kind, "TFLOP/s": work / took / 1e12,
                    "of the cube's": work / took / cubes[kind], "over unfused": unfused / took,
                    "error": float(off.norm() / exact.norm()),
                }  # fmt: skip
                targets, got = (
                    (OF_THE_CUBE, "of the cube's") if kind == "bf16"
                    else (OVER_UNFUSED, "over unfused")
                )  # fmt: skip
                row["target"], row["met"] = f"{got} >= {targets[d]}", row[got] >= targets[d]
                results.append(row)
                print("  ".join(f"{k} {v:.3g}" if isinstance(v, float) else f"{k} {v}"
                                for k, v in row.items()))  # fmt: skip
    return results


def fits(seed: int, *, with_cpu: bool) -> list[dict[str, object]]:
    """Time whole searches, and compare their alignment with the CPU's."""
    X, direction, _ = make_planted(
        FIT_ROWS, FIT_COLUMNS, signal=ImbalancedClusters(0.01, spread=0.3), random_state=seed
    )
    host = X.astype(np.float32)
    options = {"index": "relu2", "n_starts": FIT_STARTS, "random_state": seed}
    expected = None
    if with_cpu:
        begin = perf_counter()
        expected = abs(float(adaptive_ascent(host, **options).direction @ direction))
        print(f"CPU: alignment {expected:.5f} in {perf_counter() - begin:.1f} s")
    rows = torch.asarray(host).cuda()
    results = []
    for setting in ("highest", "high", "medium"):
        torch.set_float32_matmul_precision(setting)
        adaptive_ascent(rows, **options)  # compiles
        torch.cuda.synchronize()
        begin = perf_counter()
        found = adaptive_ascent(rows, **options)
        torch.cuda.synchronize()
        took = perf_counter() - begin
        aligned = abs(float(found.direction.cpu().numpy() @ direction))
        row: dict[str, object] = {
            "fit": setting, "seconds": took, "alignment": aligned, "target": "< 1 s, the CPU's",
            "why it ended": found.stopping_reason,
        }  # fmt: skip
        if expected is not None:
            row["met"] = took < 1 and abs(aligned - expected) < 1e-3
        results.append(row)
        print(row)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-cpu", action="store_true")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        parser.exit(2, "no CUDA device: torch.cuda.is_available() is False\n")
    torch.manual_seed(options.seed)
    device = torch.cuda.get_device_name()
    print_header("The accelerated step", seed=options.seed)
    print(f"  device: {device}, torch {torch.__version__}, triton {triton.__version__}\n")
    results = {
        "hardware": hardware() | {"device": device, "torch": torch.__version__},
        "seed": options.seed,
        "steps": steps(options.rounds),
        "fits": fits(options.seed, with_cpu=not options.no_cpu),
    }
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1, default=str) + "\n")


if __name__ == "__main__":
    main()
