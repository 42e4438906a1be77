"""Which columns a direction is made of: weights in units that compare.

A direction a gives the score <x - mean, a>. Its weight on column j in standard units is

    w_j = a_j s_j / s,        s_j, s the standard deviations of the column and of the score,

what one standard deviation of the column adds to the score, in the score's own. Raw weights would
rank columns by their unit of measurement.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sightline._arrays import Array, to_numpy
from sightline.scatter import Scatter

Host = np.ndarray[Any, np.dtype[np.float64]]


def standard_weights(components: Array, scatter: Scatter) -> Host:
    """Return the weights in standard units (k, d) of directions (k, d) over rows of a scatter."""
    weights = to_numpy(components).astype(np.float64)
    scaled = np.ldexp(weights, scatter.exponents)
    covariance = scatter.covariance(scatter.exponents)
    spread = np.sqrt(np.diag(covariance))
    largest = np.abs(scaled).max(axis=1, keepdims=True)
    scaled = scaled / np.where(largest > 0, largest, 1.0)
    variances = np.einsum("kd,de,ke->k", scaled, covariance, scaled)
    deviations = np.sqrt(np.maximum(variances, 0.0))[:, None]
    standard: Host = scaled * spread / np.where(deviations > 0, deviations, 1.0)
    return standard


def main_columns(weights: Host, count: int) -> list[int]:
    """Return positions of the `count` largest weights (d,) by size, largest first."""
    order = np.argsort(-np.abs(weights), kind="stable")[:count]
    return [int(position) for position in order if weights[position] != 0]
