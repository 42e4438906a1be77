"""What a measurement was made on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

from threadpoolctl import threadpool_info

LIBRARIES = ("sightline", "numpy", "scipy", "scikit-learn")


def hardware() -> dict[str, object]:
    """Return the processor, the BLAS kernels in use with their threads, and the versions.

    The kernel is not always the processor's: `OPENBLAS_CORETYPE` pins OpenBLAS to another one,
    which may halve its speed.
    """
    kernels = [
        f"{pool['internal_api']} {pool.get('version')} {pool.get('architecture', '')} "
        f"x{pool['num_threads']}"
        for pool in threadpool_info()
    ]
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "blas": sorted(set(kernels)),
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


def processor() -> str:
    """Return what the processor is called."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text(encoding="utf-8", errors="replace").splitlines()
        names = [line.partition(":")[2].strip() for line in lines if "model name" in line]
        if names:
            return names[0]
    return platform.processor() or platform.machine()
