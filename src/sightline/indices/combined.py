"""Indices that are a function of several means."""

from __future__ import annotations

import numpy as np

from sightline._arrays import Array, Namespace
from sightline.indices.contract import Index


class ApproxEntropy(Index):
    """F = (mean t^3)^2 + (mean t^4 - 3)^2: the cumulant approximation of negentropy.

    A function of two means, not a mean of a function, so it has two features and a combination.
    """

    name = "approx-entropy"
    n_features = 2
    even = True
    formulas = (("t * t * t", "3 * t * t"), ("t * t * t * t", "4 * t * t * t"))
    step_sizes = (0.1, 0.02)
    seeks_modes = True

    def value(self, scores: Array, xp: Namespace) -> Array:
        """Return t^3 and t^4, stacked on a leading axis."""
        cube = scores * scores * scores
        return xp.stack((cube, cube * scores))

    def slope(self, scores: Array, xp: Namespace) -> Array:
        """Return 3 t^2 and 4 t^3, stacked on a leading axis."""
        square = scores * scores
        return xp.stack((3 * square, square * (4 * scores)))

    def write(
        self, scores: np.ndarray, value: np.ndarray | None, slope: np.ndarray | None
    ) -> None:
        """Write the products."""
        if value is not None:
            cube, fourth = value
            np.multiply(scores, scores, out=cube)
            cube *= scores
            np.multiply(cube, scores, out=fourth)
        if slope is not None:
            square, cube = slope
            np.multiply(scores, scores, out=square)
            np.multiply(scores, 4, out=cube)
            cube *= square
            square *= 3

    def combine(self, means: Array, xp: Namespace) -> Array:  # noqa: ARG002
        """Return m_3^2 + (m_4 - 3)^2."""
        third, excess = means[0, ...], means[1, ...] - 3
        return third * third + excess * excess

    def weights(self, means: Array, xp: Namespace) -> Array:
        """Return 2 m_3 and 2 (m_4 - 3)."""
        return xp.stack((2 * means[0, ...], 2 * (means[1, ...] - 3)))
