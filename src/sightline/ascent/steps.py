"""How many steps, and how long: the paper's choices, and the check of a caller's own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sightline._options import check_choice, check_count, check_number


def default_steps(dimension: int) -> int:
    """Return s = 2 log2 d, the number of steps of each run in the paper's experiments."""
    return max(2, math.ceil(2 * math.log2(max(dimension, 2))))


def paper_step_sizes(dimension: int, p: float, rule: str = "figures") -> tuple[float, float]:
    """Return the paper's (eta_1, eta_2) for a rare fraction `p`.

    "figures": (sqrt(d) p, 1/2), as every figure uses. "kurtosis-theorem": (d p^2, 1/2), as the
    theorem on Bernoulli-Rademacher vectors asks. The paper prints eta_2 as 0.5 or Theta(1).
    """
    check_choice("rule", rule, ("figures", "kurtosis-theorem"))
    check_count("dimension", dimension)
    p = check_number("p", p, low=0, high=1, open_low=True, open_high=True)
    return (math.sqrt(dimension) * p if rule == "figures" else dimension * p * p), 0.5


def check_step_sizes(given: Any) -> tuple[float, float]:
    """Return (eta_1, eta_2) as floats, or say what two numbers were expected."""
    if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str) or len(given) != 2:
        raise ValueError(f"step_sizes={given!r} must be two numbers, (eta_1, eta_2).")
    first, second = (check_number("step_sizes", eta, low=0, open_low=True) for eta in given)
    return first, second
