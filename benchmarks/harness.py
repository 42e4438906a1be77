"""What every script prints first; it times by `sightline.benchmarking`, as `sightline bench`."""

from __future__ import annotations

from sightline.benchmarking import hardware, in_turns

__all__ = ["hardware", "in_turns", "print_header"]


def print_header(title: str, seed: int) -> None:
    """Print what was measured on what."""
    print(title)
    for key, value in hardware().items():
        print(f"  {key}: {value}")
    print(f"  seed: {seed}\n")
