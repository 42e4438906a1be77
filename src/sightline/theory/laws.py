"""Laws of the planted variable nu that the theory takes, beside the signals that can be planted.

A law declares what it knows: `components()`, the mixture of normal laws that it is,
`quadrature()`, one that has the same means of smooth functions, or `moment(k)` = E nu^k. A mixture
serves everything; from moments alone the low-degree norm follows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Rational, Real
from typing import Any

import numpy as np

from sightline._options import check_count, check_number
from sightline.datasets.signals import Components, MixtureSignal

_MIXTURES = ("components", "quadrature")


@dataclass(frozen=True)
class FiniteLaw(MixtureSignal):
    """nu = values_j with probability weights_j; it can be planted like any other signal.

    Parameters
    ----------
    values : the finitely many values of nu.
    weights : their probabilities, which sum to 1.
    """

    values: Sequence[float]
    weights: Sequence[float]

    def __post_init__(self) -> None:
        values = tuple(check_number("values", value) for value in self.values)
        weights = tuple(check_number("weights", weight, low=0, high=1) for weight in self.weights)
        if not values or len(values) != len(weights):
            raise ValueError(
                f"values and weights have {len(values)} and {len(weights)} entries; "
                "they must be equally many, and at least one."
            )
        if abs(math.fsum(weights) - 1) > 1e-12:
            raise ValueError(f"weights={self.weights!r} sum to {math.fsum(weights)!r}, not to 1.")
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "weights", weights)

    def components(self) -> Components:
        """Return one component of width 0 for every value."""
        return Components(
            np.array(self.weights), np.array(self.values), np.zeros(len(self.values))
        )


@dataclass(frozen=True)
class MomentLaw:
    """A law of which only E nu^0, E nu^1, ... are known.

    Parameters
    ----------
    moments : E nu^k for k = 0, 1, ...; the first is 1. Whole numbers and fractions are taken as
        exact, floats as right to rounding.
    """

    moments: Sequence[Real]

    def __post_init__(self) -> None:
        moments = tuple(self.moments)
        for k, moment in enumerate(moments):
            check_number(f"moments[{k}]", moment)
        if not moments or moments[0] != 1:
            raise ValueError(f"moments={self.moments!r} must begin with 1, the moment of order 0.")
        for k in range(1, len(moments) - 1, 2):
            below, here, above = (float(moment) for moment in moments[k - 1 : k + 2])
            if (
                below < 0
                or above < 0
                or abs(here) > math.sqrt(below) * math.sqrt(above) * (1 + 1e-12)
            ):
                raise ValueError(
                    f"moments[{k - 1}:{k + 2}]={moments[k - 1 : k + 2]!r} belong to no law: "
                    f"(E nu^{k})^2 is at most E nu^{k - 1} times E nu^{k + 1}."
                )
        object.__setattr__(self, "moments", moments)

    def moment(self, k: int) -> Real:
        """Return E nu^k, or say which orders are known."""
        k = check_count("k", k, at_least=0)
        if k >= len(self.moments):
            raise ValueError(
                f"k={k} is beyond the moments that the law has, 0 to {len(self.moments) - 1}. "
                "Give more moments, or ask for a lower degree."
            )
        return self.moments[k]


def is_mixture(signal: Any) -> bool:
    """Say whether a signal declares a mixture of normal laws, or one that stands for it."""
    return any(callable(getattr(signal, name, None)) for name in _MIXTURES)


def components_of(signal: Any) -> Components:
    """Return the mixture of normal laws that a signal is, or say what it lacks."""
    for name in _MIXTURES:
        method = getattr(signal, name, None)
        if callable(method):
            return Components(*(np.asarray(part, dtype=np.float64) for part in method()))
    raise TypeError(
        f"signal={signal!r} must have a method components(): weights, means and deviations of "
        "the normal laws that it mixes. For finitely many values use FiniteLaw."
    )


def is_exact(number: Real) -> bool:
    """Say whether a number is a whole number or a fraction, and so free of rounding."""
    return isinstance(number, Rational)
