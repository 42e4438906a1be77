"""Checks of options where they enter; messages name the option, what it got, what it takes."""

from __future__ import annotations

import math
import numbers
from collections.abc import Collection
from typing import Any

import numpy as np


def check_choice(option: str, got: Any, accepted: Collection[str]) -> str:
    """Return `got` if it is one of the accepted names."""
    if not isinstance(got, str) or got not in accepted:
        names = ", ".join(repr(name) for name in accepted)
        raise ValueError(f"{option}={got!r} is unknown; choose from {names}.")
    return got


def check_count(option: str, got: Any, *, at_least: int = 1, at_most: int | None = None) -> int:
    """Return `got` as an int if it is a whole number in the range; True and 2.0 are not counts."""
    wanted = f"a whole number of at least {at_least}"
    if at_most is not None:
        wanted = f"a whole number from {at_least} to {at_most}"
    if isinstance(got, bool | np.bool_) or not isinstance(got, numbers.Integral):
        raise TypeError(f"{option}={got!r} must be {wanted}.")
    count = int(got)
    if count < at_least or (at_most is not None and count > at_most):
        raise ValueError(f"{option}={got!r} must be {wanted}.")
    return count


def check_number(
    option: str,
    got: Any,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    open_low: bool = False,
    open_high: bool = False,
) -> float:
    """Return `got` as a float if it is a finite number in the interval."""
    opening = "(" if open_low or low == -math.inf else "["  # infinity itself is not accepted
    closing = ")" if open_high or high == math.inf else "]"
    interval = f"{opening}{low:g}, {high:g}{closing}"
    if isinstance(got, bool | np.bool_) or not isinstance(got, numbers.Real):
        raise TypeError(f"{option}={got!r} must be a number in {interval}.")
    try:
        number = float(got)
    except OverflowError:  # an integer or a fraction beyond the largest float
        number = math.inf
    inside = (low < number if open_low else low <= number) and (
        number < high if open_high else number <= high
    )
    if not (math.isfinite(number) and inside):
        raise ValueError(f"{option}={got!r} must be a finite number in {interval}.")
    return number


def check_flag(option: str, got: Any) -> bool:
    """Return `got` as a bool if it is True or False; 1 and 'yes' are not."""
    if not isinstance(got, bool | np.bool_):
        raise TypeError(f"{option}={got!r} must be True or False.")
    return bool(got)


def as_generator(random_state: Any) -> np.random.Generator:
    """Return a Generator for an int seed, a Generator, or None (fresh entropy).

    A legacy `RandomState` seeds a Generator by its next draw, so that scikit-learn code which
    hands one down keeps working and stays reproducible.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**31, size=4))
    if random_state is None or isinstance(random_state, np.random.Generator):
        return np.random.default_rng(random_state)
    message = (
        f"random_state={random_state!r} must be a whole number of at least 0, "
        "a numpy.random.Generator, or None."
    )
    if isinstance(random_state, bool) or not isinstance(random_state, numbers.Integral):
        raise TypeError(message)
    if random_state < 0:
        raise ValueError(message)
    return np.random.default_rng(int(random_state))
