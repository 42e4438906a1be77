"""The way of the data: whiten, starts, ascent, candidates, selection, directions.

`pursue` runs it once for several directions, or once a direction with the found ones projected
out. Everything happens in whitened coordinates; `Found` holds the way back to the columns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg

from sightline._arrays import Array, like, namespace, take_rows, to_numpy
from sightline._options import as_generator, check_choice, check_count, check_number
from sightline.ascent import adaptive_ascent, two_step_gradient_ascent
from sightline.indices import Index, make_index, selection_index
from sightline.rows import map_rows
from sightline.selection import Ranked, rank_directions
from sightline.significance import standard_values_along
from sightline.sphere import tangent
from sightline.sums import index_gradients
from sightline.whitening import Whitening

MULTIPLE = ("merge", "deflate")

_SETTLED_DEGREES = 1.0
"""A two-step direction has converged when one more step would turn it by less than this."""

_SPARE = 4
"""Candidates that a climb hands over for each direction asked for, at least 32."""


@dataclass(frozen=True, slots=True)
class Found:
    """Directions of a table, best first.

    Attributes
    ----------
    whitening : the map from the table's rows to the whitened rows.
    directions : (k, r) unit rows in whitened coordinates, heavier tail positive.
    values : (k,) the selection index on all rows, on the host.
    converged : (k,) whether each stands still, on the host.
    clear : (k,) whether its scores are clearly of several modes, where that was weighed.
    standard_values : (k,) the selection index of the scores at variance 1, on the host: what
        compares across whitenings, and `values` where the covariance is I.
    looked : starts and steps of the first look, where it was convincing for the first climb.
    n_steps : steps that were taken.
    n_samples_used : rows that were read for starts and steps.
    step_sizes : the step sizes in use.
    stopping_reason : why the last climb ended, in words.
    """

    whitening: Whitening
    directions: Array
    values: np.ndarray
    converged: np.ndarray
    clear: np.ndarray
    standard_values: np.ndarray
    looked: tuple[int, int] | None
    n_steps: int
    n_samples_used: int
    step_sizes: tuple[float, float]
    stopping_reason: str


@dataclass(frozen=True, slots=True)
class Climb:
    """How to climb: the options of a solver, None where it is to choose."""

    phi: Index
    psi: Index
    weigh_modes: bool
    n_candidates: int
    n_starts: int | None = None
    starts: Any = None
    n_steps: int | None = None
    step_sizes: tuple[float, float] | None = None
    resample: str | None = None
    batch_size: int | None = None

    def given(self, *names: str) -> dict[str, Any]:
        """Return those of the named options that the caller set."""
        options = {name: getattr(self, name) for name in names}
        return {name: value for name, value in options.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a solver hands over: directions (m, r), whether each stands still, and its account."""

    directions: Array
    converged: np.ndarray
    n_steps: int
    n_samples_used: int
    step_sizes: tuple[float, float]
    stopping_reason: str
    looked: tuple[int, int] | None = None


def pursue(
    X: Array,
    whitening: Whitening,
    *,
    index: Any,
    solver: str = "adaptive",
    select: Any = None,
    n_components: int = 1,
    multiple: str = "merge",
    minimum_angle: float = 15.0,
    random_state: Any = None,
    **options: Any,
) -> Found:
    """Find `n_components` directions of `X`.

    Parameters
    ----------
    X : (n, d) table.
    whitening : fitted on it.
    index : phi.
    solver : "adaptive" or "two-step".
    select : psi; "auto" is the index's own, with candidates whose scores are clearly of several
        modes before all others; None is "auto" for the adaptive solver, the index's own for the
        two-step one.
    n_components : how many directions; fewer are returned where fewer distinct optima exist.
    multiple : "merge" takes the best candidates that keep `minimum_angle` from each other;
        "deflate" finds one, projects it out, and climbs again.
    minimum_angle : degrees between two directions that are told apart.
    random_state : int, Generator or None.
    options : the other options of the solver, None where it is to choose.
    """
    climb_on = SOLVERS[check_choice("solver", solver, tuple(SOLVERS))]
    phi = make_index(index)
    auto = select is None if solver == "adaptive" else False
    weigh_modes = auto or (isinstance(select, str) and select == "auto")
    psi = selection_index(phi, None if weigh_modes else select)
    check_choice("multiple", multiple, MULTIPLE)
    count = check_count("n_components", n_components, at_most=whitening.rank)
    angle = check_number("minimum_angle", minimum_angle, low=0, high=90)
    rng = as_generator(random_state)
    rows = whitening.apply(X)
    climb = Climb(phi, psi, weigh_modes, max(32, _SPARE * count), **options)
    if multiple == "merge":
        candidates = climb_on(rows, climb, rng)
    else:
        candidates = _deflate(rows, lambda these: climb_on(these, climb, rng), count)
        angle = 0.0
    return found_among(candidates, rows, whitening, climb, count=count, angle=angle)


def found_among(
    candidates: Candidates,
    rows: Array,
    whitening: Whitening,
    climb: Climb,
    *,
    count: int,
    angle: float,
) -> Found:
    """Rank candidates on whitened rows, and keep the `count` best that are `angle` apart."""
    ranked = _rank(candidates.directions, rows, climb, count, angle)
    if len(ranked.values) < count:
        warnings.warn(
            f"{len(ranked.values)} of n_components={count} directions found: the candidates of "
            f"this climb hold no more that keep minimum_angle={angle:g} degrees from each other. "
            "Use more n_starts, a smaller minimum_angle, or multiple='deflate'.",
            UserWarning,
            stacklevel=4,
        )
    return Found(
        whitening,
        ranked.directions,
        ranked.values,
        candidates.converged[ranked.sources],
        ranked.clear,
        standard_values_along(climb.psi, ranked.directions, rows),
        candidates.looked,
        candidates.n_steps,
        candidates.n_samples_used,
        candidates.step_sizes,
        candidates.stopping_reason,
    )


def _rank(directions: Array, rows: Array, climb: Climb, count: int, angle: float) -> Ranked:
    return rank_directions(
        directions,
        rows,
        climb.psi,
        count=count,
        minimum_angle=angle,
        weigh_modes=climb.weigh_modes,
    )


def _adaptive(rows: Array, climb: Climb, rng: np.random.Generator) -> Candidates:
    """Climb by `adaptive_ascent`."""
    unused = climb.given("resample", "batch_size")
    if unused:
        name, value = next(iter(unused.items()))
        raise ValueError(
            f"{name}={value!r} has no use with solver='adaptive', which climbs on all rows; "
            "leave it out, or use solver='two-step'."
        )
    found = adaptive_ascent(
        rows,
        index=climb.phi,
        select="auto" if climb.weigh_modes else climb.psi,
        n_directions=climb.n_candidates,
        random_state=rng,
        **climb.given("n_starts", "starts", "n_steps", "step_sizes"),
    )
    return Candidates(
        found.directions,
        found.converged,
        found.n_steps,
        found.n_samples_used,
        found.step_sizes,
        found.stopping_reason,
        found.looked,
    )


def _two_step(rows: Array, climb: Climb, rng: np.random.Generator) -> Candidates:
    """Climb by `two_step_gradient_ascent`, on all rows unless asked otherwise."""
    options = climb.given("n_starts", "starts", "n_steps", "step_sizes", "resample", "batch_size")
    found = two_step_gradient_ascent(
        rows,
        index=climb.phi,
        select=climb.psi,
        random_state=rng,
        **({"resample": "full"} | options),
    )
    return Candidates(
        found.directions,
        settled(climb.phi, found.directions, rows, found.step_sizes[1]),
        found.history.shape[0],
        found.n_samples_used,
        found.step_sizes,
        found.stopping_reason,
    )


SOLVERS: dict[str, Callable[[Array, Climb, np.random.Generator], Candidates]] = {
    "adaptive": _adaptive,
    "two-step": _two_step,
}


def _deflate(rows: Array, climb: Callable[[Array], Candidates], count: int) -> Candidates:
    """Find one direction at a time, in coordinates of the complement of those before."""
    directions: list[np.ndarray] = []
    converged: list[bool] = []
    looked: list[tuple[int, int] | None] = []
    steps = 0
    basis = np.eye(rows.shape[1])
    for _ in range(count):
        found = climb(_in_coordinates(rows, like(basis, rows)))
        leading = to_numpy(take_rows(found.directions, np.zeros(1, dtype=np.int64)))[0]
        directions.append(basis @ leading.astype(np.float64))
        converged.append(bool(found.converged[0]))
        looked.append(found.looked)
        steps += found.n_steps
        basis = linalg.null_space(np.stack(directions))
    return replace(
        found,
        directions=like(np.stack(directions), rows),
        converged=np.array(converged),
        n_steps=steps,
        looked=looked[0],
    )


def _in_coordinates(rows: Array, basis: Array) -> Array:
    """Return the coordinates of the rows in a basis (r, k) of a subspace."""
    return map_rows(lambda block: block @ basis, rows, width=basis.shape[1])


def settled(phi: Index, directions: Array, rows: Array, step_size: float) -> np.ndarray:
    """Say for each direction whether one more step on all rows would leave it where it is."""
    xp = namespace(directions)
    gradient = tangent(directions, index_gradients(phi, directions, rows))
    turn = np.arctan(step_size * to_numpy(xp.sqrt(xp.sum(gradient * gradient, axis=1))))
    return np.asarray(np.rad2deg(turn) < _SETTLED_DEGREES)
