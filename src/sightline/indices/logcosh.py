"""The logarithm of the hyperbolic cosine: smooth at zero, and as robust as the absolute value."""

from __future__ import annotations

from typing import Any

import numpy as np

from sightline._arrays import Array, Namespace
from sightline._options import check_number
from sightline.indices.contract import Index
from sightline.indices.formulas import Formulas
from sightline.short_runs import run_logarithms, run_sums


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

    def sums(self, scores: np.ndarray, spare: np.ndarray, slope: np.ndarray | None) -> np.ndarray:
        """Take one logarithm of a product of 32, in place."""
        if self.scale < 1:  # a product of numbers near 1 has lost the digits that count
            return super().sums(scores, spare, slope)
        if slope is not None:
            self.write(scores, None, slope)
        sizes = run_sums(np.abs(scores, out=scores))
        scores *= -2 * self.scale
        np.exp(scores, out=scores)
        scores += 1
        bends = run_logarithms(scores) - scores.shape[0] * np.log(2)
        total: np.ndarray = self.sign * (sizes + bends / self.scale)
        return total[None]
