"""What every benchmark prints first, and how it times: in turns, medians of many, one run."""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_info

import sightline


def hardware() -> dict[str, object]:
    """Return the processor, the BLAS kernels in use, and the versions."""
    processor = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            x.split(":")[1].strip() for x in info.read_text().splitlines() if "model name" in x
        ]
        processor = names[0] if names else processor
    kernels = [
        f"{pool['internal_api']} {pool.get('version')} {pool.get('architecture', '')} "
        f"x{pool['num_threads']}"
        for pool in threadpool_info()
    ]
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "blas": sorted(set(kernels)),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "sightline": sightline.__version__,
    }


def print_header(title: str, seed: int) -> None:
    """Print what was measured on what."""
    print(title)
    for key, value in hardware().items():
        print(f"  {key}: {value}")
    print(f"  seed: {seed}\n")


def in_turns(tasks: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median seconds of each task, all run in every round: noise hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for task in tasks.values():
        task()
    for _ in range(rounds):
        for name, task in tasks.items():
            start = time.perf_counter()
            task()
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(seconds) for name, seconds in times.items()}
