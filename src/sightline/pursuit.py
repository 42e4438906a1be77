"""The way of the data: whiten, starts, ascent, candidates, selection, directions.

`pursue` runs it once for several directions, or once a direction with the found ones projected
out. Everything happens in whitened coordinates; `Found` holds the way back to the columns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from sightline._arrays import Array, like, namespace, to_numpy
from sightline._options import as_generator, check_choice, check_count, check_number
from sightline.ascent import TwoStepAscent, two_step_gradient_ascent
from sightline.indices import Index, make_index, selection_index
from sightline.selection import Ranked, rank_directions
from sightline.sphere import tangent
from sightline.sums import index_gradients
from sightline.whitening import Whitening

MULTIPLE = ("merge", "deflate")

_SETTLED_DEGREES = 1.0
"""A direction has converged when one more step on all rows would turn it by less than this."""

Solver = Callable[[Array, np.random.Generator], TwoStepAscent]
"""Climbs on whitened rows from starts of its own."""


@dataclass(frozen=True, slots=True)
class Found:
    """Directions of a table, best first.

    Attributes
    ----------
    whitening : the map from the table's rows to the whitened rows.
    directions : (k, r) unit rows in whitened coordinates, heavier tail positive.
    values : (k,) the selection index on all rows, on the host.
    converged : (k,) whether one more step on all rows would turn it by less than one degree.
    n_steps : steps that were taken.
    n_samples_used : rows that were read for starts and steps.
    step_sizes : the step sizes in use.
    """

    whitening: Whitening
    directions: Array
    values: np.ndarray
    converged: np.ndarray
    n_steps: int
    n_samples_used: int
    step_sizes: tuple[float, float]


def pursue(
    X: Array,
    whitening: Whitening,
    *,
    index: Any,
    select: Any = None,
    n_components: int = 1,
    multiple: str = "merge",
    minimum_angle: float = 15.0,
    random_state: Any = None,
    **climb: Any,
) -> Found:
    """Find `n_components` directions of `X` by two-step gradient ascent.

    Parameters
    ----------
    X : (n, d) table.
    whitening : fitted on it.
    index, select : phi and psi.
    n_components : how many directions; fewer are returned where fewer distinct optima exist.
    multiple : "merge" takes the best candidates that keep `minimum_angle` from each other;
        "deflate" finds one, projects it out, and climbs again.
    minimum_angle : degrees between two directions that are told apart.
    random_state : int, Generator or None.
    climb : options of `two_step_gradient_ascent`.
    """
    phi = make_index(index)
    psi = selection_index(phi, select)
    check_choice("multiple", multiple, MULTIPLE)
    count = check_count("n_components", n_components, at_most=whitening.rank)
    angle = check_number("minimum_angle", minimum_angle, low=0, high=90)
    rng = as_generator(random_state)
    rows = whitening.apply(X)

    def solve(these: Array) -> TwoStepAscent:
        return two_step_gradient_ascent(these, index=phi, select=psi, random_state=rng, **climb)

    if multiple == "merge":
        climbed = solve(rows)
        ranked = rank_directions(climbed.directions, rows, psi, count=count, minimum_angle=angle)
    else:
        climbed, ranked = _deflate(rows, solve, psi, count)
    if len(ranked.values) < count:
        warnings.warn(
            f"{len(ranked.values)} of n_components={count} directions found: the candidates of "
            f"this climb hold no more that keep minimum_angle={angle:g} degrees from each other. "
            "Use more n_starts, a smaller minimum_angle, or multiple='deflate'.",
            UserWarning,
            stacklevel=3,
        )
    return Found(
        whitening,
        ranked.directions,
        ranked.values,
        _settled(phi, ranked.directions, rows, climbed.step_sizes[1]),
        climbed.history.shape[0],
        climbed.n_samples_used,
        climbed.step_sizes,
    )


def _deflate(
    rows: Array, solve: Callable[[Array], TwoStepAscent], psi: Index, count: int
) -> tuple[TwoStepAscent, Ranked]:
    """Find one direction at a time, in coordinates of the complement of those before."""
    found: list[Array] = []
    basis = np.eye(rows.shape[1])
    for _ in range(count):
        climbed = solve(rows @ like(basis, rows))
        found.append(basis @ to_numpy(climbed.direction).astype(np.float64))
        basis = linalg.null_space(np.stack(found))
    directions = like(np.stack(found), rows)
    return climbed, rank_directions(directions, rows, psi, count=count)


def _settled(phi: Index, directions: Array, rows: Array, step_size: float) -> np.ndarray:
    """Say for each direction whether one more step on all rows would leave it where it is."""
    xp = namespace(directions)
    gradient = tangent(directions, index_gradients(phi, directions, rows))
    turn = np.arctan(step_size * to_numpy(xp.sqrt(xp.sum(gradient * gradient, axis=1))))
    return np.asarray(np.rad2deg(turn) < _SETTLED_DEGREES)
