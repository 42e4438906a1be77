"""Where numbers come from: versions and hardware."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from sightline.benchmarking.machine import processor

LIBRARIES = ("numpy", "scipy", "scikit-learn")
"""What the bits of a result depend on, beside sightline itself."""


def versions(device: str = "cpu") -> dict[str, str]:
    """Return the versions of all that computes: a run that mixes them is no run."""
    names = ("sightline", *LIBRARIES, *(() if device == "cpu" else ("torch",)))
    return {"python": platform.python_version(), **{name: _version(name) for name in names}}


class DeviceError(ValueError):
    """The device that was asked for can't be had."""

    exit_code = 2


def check_device(device: str) -> None:
    """Raise where a device is asked for that is not there."""
    if device == "cpu":
        return
    try:
        import torch  # noqa: PLC0415  (optional, and slow to load)
    except ModuleNotFoundError as error:
        raise DeviceError(
            f"--device={device} needs torch, which is not installed. Install sightline[gpu], or "
            "use --device=cpu."
        ) from error
    if not torch.cuda.is_available():
        raise DeviceError(
            f"--device={device}: torch {torch.__version__} finds no CUDA GPU. Use --device=cpu, "
            "or install a torch with CUDA and check the driver."
        )


def hardware(device: str = "cpu") -> str:
    """Return the processor, its cores, and the GPU where one is used, in one line."""
    words = f"{processor()}, {usable_cores()} cores, {platform.system()} {platform.machine()}"
    if device == "cpu":
        return words
    import torch  # noqa: PLC0415  (optional, and slow to load)

    return f"{torch.cuda.get_device_name()}; {words}"


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
