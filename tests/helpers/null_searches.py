"""Small null tables and searches, shared by the tests of significance."""

import numpy as np
from scipy import stats

from sightline.sphere import random_directions
from sightline.whitening import fit_whitening

TRIES = random_directions(30, 3, np.random.default_rng(7))

SMALL = {
    "solver": "two-step",
    "whiten": "exact",
    "n_starts": 20,
    "n_steps": 3,
    "random_state": 0,
}
"""Options of a short search."""


def correlated(rng, n=30, d=3):
    """Gaussian rows of a lopsided covariance, away from the origin."""
    return rng.standard_normal((n, d)) @ np.triu(np.arange(1.0, d * d + 1).reshape(d, d)) + 5


def best_of_tries(rows, rng, whiten="exact"):
    """The largest kurtosis along 30 fixed directions of whitened rows, or the largest two."""
    scores = fit_whitening(rows, whiten).apply(rows) @ TRIES.T
    return np.sort(np.mean(scores**4, axis=0))[::-1][:2]


def skew(rows, rng):
    return stats.skew(rows[:, 0])


def randomised(p_values, n_null, rng):
    """Spread p-values over the steps of their grid: uniform on (0, 1) iff they are on the grid."""
    return np.asarray(p_values) - rng.random(len(p_values)) / (n_null + 1)


def uniformity(p_values, n_null):
    return stats.kstest(randomised(p_values, n_null, np.random.default_rng(1)), "uniform").pvalue
