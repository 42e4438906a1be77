"""Indices that are the mean of one function of the scores: the paper's table, and LogCosh.

Formulas are products and absolute values, and work in place on a temporary of their own: a power,
a `where` or one more temporary costs several times as much per score, and the elementwise map is
all that a step does beside its matrix products. `write` is the same formula in memory that is
given, to the same bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sightline._arrays import Array, Namespace
from sightline._options import check_number
from sightline.indices.contract import Index
from sightline.indices.formulas import Formulas


class ReLU2(Index):
    """phi(t) = max(0, t)^2: rewards a few rows far out on the positive side.

    On whitened data its mean is 1/2 + E[t|t|]/2, the signed square: it sees asymmetry.
    """

    name = "relu2"
    formulas = (("0.25 * (t + abs(t)) * (t + abs(t))", "t + abs(t)"),)
    step_sizes = (2.0, 0.5)
    polish = "groups"

    def value(self, scores: Array, xp: Namespace) -> Array:
        """Return max(0, t)^2, as ((t + |t|) / 2)^2."""
        half = xp.abs(scores)
        half += scores
        half *= 0.5
        half *= half
        return half

    def slope(self, scores: Array, xp: Namespace) -> Array:
        """Return 2 max(0, t) = t + |t|."""
        doubled = xp.abs(scores)
        doubled += scores
        return doubled

    def write(
        self, scores: np.ndarray, value: np.ndarray | None, slope: np.ndarray | None
    ) -> None:
        """Write t + |t|, and the square of max(0, t)."""
        if slope is not None:
            np.abs(scores, out=slope[0])
            slope += scores
        if value is not None:
            np.clip(scores, 0, np.inf, out=value[0])  # three times as fast as np.maximum
            value *= value


class Kurtosis(Index):
    """phi(t) = t^4: rewards heavy tails on both sides; chosen by psi = -|t|, as in the paper."""

    name = "kurtosis"
    formulas = (("t * t * t * t", "4 * t * t * t"),)
    even = True
    selection = "abs"
    step_sizes = (0.25, 0.05)

    def value(self, scores: Array, xp: Namespace) -> Array:  # noqa: ARG002
        """Return t^4."""
        power = scores * scores
        power *= power
        return power

    def slope(self, scores: Array, xp: Namespace) -> Array:  # noqa: ARG002
        """Return 4 t^3."""
        power = scores * scores
        power *= scores
        power *= 4
        return power

    def write(
        self, scores: np.ndarray, value: np.ndarray | None, slope: np.ndarray | None
    ) -> None:
        """Write the products."""
        if value is not None:
            np.multiply(scores, scores, out=value[0])
            value *= value
        if slope is not None:
            np.multiply(scores, scores, out=slope[0])
            slope *= scores
            slope *= 4


class Abs(Index):
    """phi(t) = -|t|: rewards sparse scores, many near zero and few far out."""

    name = "abs"
    formulas = (("-abs(t)", "-sign(t)"),)
    even = True
    step_sizes = (1.0, 0.2)

    def value(self, scores: Array, xp: Namespace) -> Array:
        """Return -|t|."""
        size = xp.abs(scores)
        size *= -1
        return size

    def slope(self, scores: Array, xp: Namespace) -> Array:
        """Return -sign(t); 0 at the kink."""
        sign = xp.sign(scores)
        sign *= -1
        return sign

    def write(
        self, scores: np.ndarray, value: np.ndarray | None, slope: np.ndarray | None
    ) -> None:
        """Write -|t| and -sign(t)."""
        if value is not None:
            np.abs(scores, out=value[0])
            value *= -1
        if slope is not None:
            np.sign(scores, out=slope[0])
            slope *= -1


class AbsMax(Index):
    """phi(t) = |t|: rewards scores away from zero, as two balanced clusters have them."""

    name = "absmax"
    formulas = (("abs(t)", "sign(t)"),)
    even = True
    step_sizes = (1.0, 0.2)
    polish = "groups"
    seeks_modes = True

    def value(self, scores: Array, xp: Namespace) -> Array:
        """Return |t|."""
        return xp.abs(scores)

    def slope(self, scores: Array, xp: Namespace) -> Array:
        """Return sign(t); 0 at the kink."""
        return xp.sign(scores)

    def write(
        self, scores: np.ndarray, value: np.ndarray | None, slope: np.ndarray | None
    ) -> None:
        """Write |t| and sign(t)."""
        if value is not None:
            np.abs(scores, out=value[0])
        if slope is not None:
            np.sign(scores, out=slope[0])


class Skewness(Index):
    """phi(t) = t^3: rewards a longer tail on the positive side."""

    name = "skewness"
    formulas = (("t * t * t", "3 * t * t"),)
    step_sizes = (0.5, 0.1)
    polish = "groups"

    def value(self, scores: Array, xp: Namespace) -> Array:  # noqa: ARG002
        """Return t^3."""
        power = scores * scores
        power *= scores
        return power

    def slope(self, scores: Array, xp: Namespace) -> Array:  # noqa: ARG002
        """Return 3 t^2."""
        power = scores * scores
        power *= 3
        return power

    def write(
        self, scores: np.ndarray, value: np.ndarray | None, slope: np.ndarray | None
    ) -> None:
        """Write the products."""
        if value is not None:
            np.multiply(scores, scores, out=value[0])
            value *= scores
        if slope is not None:
            np.multiply(scores, scores, out=slope[0])
            slope *= 3


class LogCosh(Index):
    """phi(t) = sign * log cosh(scale t) / scale: the smooth form of Abs (-1) and AbsMax (+1).

    Parameters
    ----------
    sign : -1 rewards sparse scores as `Abs` does, +1 balanced clusters as `AbsMax` does.
    scale : from 0.001 to 1e6; the larger, the closer to |t|: the bend at zero is about 1 / scale
        wide, and outside that range it is too wide or too narrow for the digits of a score.
    """

    name = "logcosh"
    even = True
    step_sizes = (1.0, 0.25)

    def __init__(self, sign: Any = -1, scale: Any = 1.0) -> None:
        if sign not in (-1, 1):
            raise ValueError(f"sign={sign!r} must be -1 (sparse scores) or 1 (balanced clusters).")
        self.sign = int(sign)
        self.scale = check_number("scale", scale, low=1e-3, high=1e6)

    @property
    def seeks_modes(self) -> bool:  # type: ignore[override]
        """Whether scores away from zero are what it rewards."""
        return self.sign > 0

    @property
    def formulas(self) -> Formulas:  # type: ignore[override]
        """Return both, with the options as numbers."""
        sign, scale = self.sign, self.scale
        bend = f"log(0.5 + 0.5 * exp({-2 * scale} * abs(t)))"
        return ((f"{sign} * (abs(t) + {bend} / {scale})", f"{sign} * tanh({scale} * t)"),)

    def value(self, scores: Array, xp: Namespace) -> Array:
        """Return sign (|t| + log((1 + exp(-2 scale |t|)) / 2) / scale): no overflow."""
        size = xp.abs(scores)
        if self.scale < 1:  # the digits that log would lose are divided by the scale
            bend = xp.expm1((-2 * self.scale) * size)
            bend *= 0.5
            bend = xp.log1p(bend)
        else:  # NumPy has vectorised exp and log, which are six times faster than log1p
            bend = xp.exp((-2 * self.scale) * size)
            bend += 1
            bend *= 0.5
            bend = xp.log(bend)
        bend *= self.sign / self.scale
        size *= self.sign
        size += bend
        return size

    def slope(self, scores: Array, xp: Namespace) -> Array:
        """Return sign tanh(scale t)."""
        bounded = xp.tanh(scores if self.scale == 1 else self.scale * scores)
        bounded *= self.sign
        return bounded

    def write(
        self, scores: np.ndarray, value: np.ndarray | None, slope: np.ndarray | None
    ) -> None:
        """Write both; NumPy's tanh is vectorised, exact to 1.4 units of float32's last place."""
        if value is not None:
            size = np.abs(scores, out=np.empty_like(scores) if slope is None else slope[0])
            np.multiply(size, -2 * self.scale, out=value[0])
            if self.scale < 1:
                np.expm1(value, out=value)
                value *= 0.5
                np.log1p(value, out=value)
            else:
                np.exp(value, out=value)
                value += 1
                value *= 0.5
                np.log(value, out=value)
            value *= self.sign / self.scale
            size *= self.sign
            value += size
        if slope is not None:
            np.multiply(scores, self.sign * self.scale, out=slope[0])
            np.tanh(slope, out=slope)
