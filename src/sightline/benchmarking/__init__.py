"""What the machine does with this library, beside bare matrix products and beside its peers.

Figures of one run are comparable with each other; figures of two runs or machines are not.
"""

from collections.abc import Callable

from sightline.benchmarking.machine import hardware
from sightline.benchmarking.race import peers
from sightline.benchmarking.scaling import cost
from sightline.benchmarking.speed import fit, step
from sightline.benchmarking.timing import Report, in_turns

BENCHMARKS: dict[str, Callable[[int, int], Report]] = {
    "step": step,
    "fit": fit,
    "cost": cost,
    "peers": peers,
}
"""By name: functions of (seed, rounds)."""

__all__ = ["BENCHMARKS", "Report", "hardware", "in_turns"]
