"""The methods that the paper compares, in its settings, and the library's own solver.

Every method takes rows and a `Problem` and returns unit directions (k, d) in the space of the
rows' columns, best first, on the host. Figures take theirs from `METHODS` by name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from sightline._arrays import Array, take_rows, to_numpy
from sightline.ascent import adaptive_ascent, paper_step_sizes, two_step_gradient_ascent
from sightline.covmcd import covmcd_directions
from sightline.spectral import spectral_directions
from sightline.whitening_choice import choose_whitening

N_STARTS = 400
"""n_init of the paper's comparison of methods."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What a method is told beside the rows.

    Attributes
    ----------
    p : the rare fraction that the paper's step sizes sqrt(d) p are made of.
    seed : of the method's own randomness.
    n_starts : n_init of the gradient methods.
    n_directions : how many directions to return.
    batch_size, resample : of Algorithm 2; the default draws batches of n with replacement.
    step_rule : see `paper_step_sizes`.
    adaptive_index : the index that the library's own solver climbs.
    own_whitening : of the own solver, as `whiten` of `ProjectionPursuit`; "none" where the rows
        are whitened already.
    minimum_angle : degrees that the own solver's directions keep from each other.
    """

    p: float
    seed: int
    n_starts: int = N_STARTS
    n_directions: int = 1
    batch_size: int | None = None
    resample: str = "replace"
    step_rule: str = "figures"
    adaptive_index: str = "relu2"
    own_whitening: str = "exact"
    minimum_angle: float = 5.0


@dataclass(frozen=True)
class Method:
    """A method: its name in tables, what pictures call it, and how it finds directions.

    Attributes
    ----------
    name : the key in `METHODS` and the entry of a cell.
    label : for legends.
    find : directions (k, d) on the host, from rows and a problem.
    family : "gradient", "spectral", "robust" or "own".
    cost : seconds relative to a spectral method, for the time left.
    """

    name: str
    label: str
    find: Callable[[Array, Problem], np.ndarray[Any, Any]]
    family: str
    cost: float


def _gradient(index: str) -> Callable[[Array, Problem], np.ndarray[Any, Any]]:
    """Return Algorithm 2 for phi, with the psi that the paper's table gives it."""

    def find(X: Array, problem: Problem) -> np.ndarray[Any, Any]:
        found = two_step_gradient_ascent(
            X,
            index=index,
            n_starts=problem.n_starts,
            batch_size=problem.batch_size,
            resample=problem.resample,
            step_sizes=paper_step_sizes(X.shape[1], problem.p, problem.step_rule),
            random_state=problem.seed,
        )
        return to_numpy(found.directions[: problem.n_directions, :])

    return find


def _spectral(method: str, singular: str = "largest") -> Callable[..., np.ndarray[Any, Any]]:
    def find(X: Array, problem: Problem) -> np.ndarray[Any, Any]:
        found = spectral_directions(X, method, problem.n_directions, singular=singular)
        return to_numpy(found.directions)

    return find


def _covmcd(X: Array, problem: Problem) -> np.ndarray[Any, Any]:
    return to_numpy(covmcd_directions(X, problem.n_directions).directions)


def _adaptive(X: Array, problem: Problem) -> np.ndarray[Any, Any]:
    """Whiten as the problem says, and climb on all rows."""
    whitening = choose_whitening(
        X,
        problem.own_whitening,
        index=problem.adaptive_index,
        rng=np.random.default_rng(problem.seed),
    )
    found = adaptive_ascent(
        whitening.apply(X),
        index=problem.adaptive_index,
        n_directions=max(32, problem.n_directions),
        minimum_angle=problem.minimum_angle,
        random_state=problem.seed,
    ).directions
    leading = take_rows(found, np.arange(min(problem.n_directions, found.shape[0])))
    return to_numpy(whitening.column_weights(leading))


METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("relu2", "ReLU2", _gradient("relu2"), "gradient", 12),
        Method("kurtosis", "Kurtosis", _gradient("kurtosis"), "gradient", 12),
        Method("abs", "Abs", _gradient("abs"), "gradient", 12),
        Method("absmax", "AbsMax", _gradient("absmax"), "gradient", 12),
        Method("skewness", "Skewness", _gradient("skewness"), "gradient", 12),
        Method("approx-entropy", "ApproxEntropy", _gradient("approx-entropy"), "gradient", 20),
        Method("cov4max", "Cov4max", _spectral("cov4max"), "spectral", 1),
        Method("cov4min", "Cov4min", _spectral("cov4min"), "spectral", 1),
        Method("max-skew", "3TensorDecomp", _spectral("max-skew"), "spectral", 2),
        Method(
            "max-skew-smallest",
            "3TensorDecomp (smallest)",
            _spectral("max-skew", "smallest"),
            "spectral",
            8,
        ),
        Method("covmcd", "PPcovMCD", _covmcd, "robust", 6),
        Method("adaptive", "sightline adaptive", _adaptive, "own", 100),
    )
}

GRADIENT = tuple(name for name, method in METHODS.items() if method.family == "gradient")
SPECTRAL = tuple(name for name, method in METHODS.items() if method.family == "spectral")


def find_directions(name: str, X: Array, problem: Problem) -> np.ndarray[Any, Any]:
    """Return the directions (k, d) of a method by name."""
    return METHODS[name].find(X, problem)


def alignment(directions: np.ndarray[Any, Any], planted: np.ndarray[Any, Any]) -> float:
    """Return |<u_hat, u*>| of the first direction."""
    return abs(float(np.asarray(directions[0], dtype=np.float64) @ planted))
