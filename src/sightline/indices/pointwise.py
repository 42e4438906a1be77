"""Indices that are the mean of one function of the scores: the paper's table.

Formulas are products and absolute values, and work in place on a temporary of their own: a power,
a `where` or one more temporary costs several times as much per score, and the elementwise map is
all that a step does beside its matrix products. `write` is the same formula in memory that is
given, to the same bits.
"""

from __future__ import annotations

import numpy as np

from sightline._arrays import Array, Namespace
from sightline.indices.contract import Index
from sightline.short_runs import run_sums


def _write_signs(scores: np.ndarray, signs: np.ndarray, one: int) -> None:
    """Write sign(t) times `one`, in half the time of np.sign: |t| cut at the least normal number.

    What is smaller than that, and no zero, comes out between the two.
    """
    least = np.finfo(scores.dtype).tiny
    np.clip(scores, -least, least, out=signs)
    signs *= one / least


def _sums_of_sizes(index: Index, scores: np.ndarray, slope: np.ndarray | None) -> np.ndarray:
    """Return the sums of |t|, taken in place, after the index has written its slopes."""
    if slope is not None:
        index.write(scores, None, slope)
    return run_sums(np.abs(scores, out=scores))[None]


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

    def sums(
        self,
        scores: np.ndarray,
        spare: np.ndarray,  # noqa: ARG002  (the contract)
        slope: np.ndarray | None,
    ) -> np.ndarray:
        """Square max(0, t) in place."""
        if slope is not None:
            self.write(scores, None, slope)
        np.clip(scores, 0, np.inf, out=scores)
        scores *= scores
        return run_sums(scores)[None]


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
            _write_signs(scores, slope[0], -1)

    def sums(
        self,
        scores: np.ndarray,
        spare: np.ndarray,  # noqa: ARG002  (the contract)
        slope: np.ndarray | None,
    ) -> np.ndarray:
        """Take sizes in place."""
        return -_sums_of_sizes(self, scores, slope)


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
            _write_signs(scores, slope[0], 1)

    def sums(
        self,
        scores: np.ndarray,
        spare: np.ndarray,  # noqa: ARG002  (the contract)
        slope: np.ndarray | None,
    ) -> np.ndarray:
        """Take sizes in place."""
        return _sums_of_sizes(self, scores, slope)


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
