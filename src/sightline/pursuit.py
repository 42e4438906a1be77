"""The way of the data: whiten, starts, ascent, candidates, selection, directions.

`pursue` runs it once for several directions, or once a direction with the found ones projected
out. Everything happens in whitened coordinates; `Found` holds the way back to the columns.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

import numpy as np
from scipy import linalg

from sightline._arrays import Array, like, take_rows, to_numpy
from sightline._options import as_generator, check_choice, check_count, check_number
from sightline.indices import selection_index
from sightline.portfolio import choose, members
from sightline.rows import map_rows
from sightline.significance import standard_values_along
from sightline.solvers import SOLVERS, Candidates, Climb
from sightline.whitening import Whitening

MULTIPLE = ("merge", "deflate")

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
    standard_values : (k,) what compares across whitenings and tables, on the host: the selection
        index of the scores at variance 1 (`values` where the covariance is I); with index="auto"
        how far that is beyond noise (`sightline.portfolio`).
    indices : (k,) names of the indices that found them.
    stages : for each climb, the stage that was convincing; None where it went on to the end.
    n_steps : steps that were taken.
    n_samples_used : rows that were read for starts and steps.
    step_sizes : the step sizes in use; with index="auto" those of the index that found the first.
    stopping_reason : why the last climb ended, in words.
    """

    whitening: Whitening
    directions: Array
    values: np.ndarray
    converged: np.ndarray
    clear: np.ndarray
    standard_values: np.ndarray
    indices: tuple[str, ...]
    stages: tuple[int | None, ...]
    n_steps: int
    n_samples_used: int
    step_sizes: tuple[float, float]
    stopping_reason: str


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
    most_stages: Sequence[int | None] = (None,),
    random_state: Any = None,
    **options: Any,
) -> Found:
    """Find `n_components` directions of `X`.

    Parameters
    ----------
    X : (n, d) table.
    whitening : fitted on it.
    index : phi; "auto" is the portfolio of `sightline.portfolio`.
    solver : "adaptive" or "two-step".
    select : psi; "auto" is the index's own, with candidates whose scores are clearly of several
        modes before all others; None is "auto" for the adaptive solver, the index's own for the
        two-step one.
    n_components : how many directions; fewer are returned where fewer distinct optima exist.
    multiple : "merge" takes the best candidates that keep `minimum_angle` from each other;
        "deflate" finds one, projects it out, and climbs again.
    minimum_angle : degrees between two directions that are told apart.
    most_stages : for each climb, the stages after which it ends at the latest, or None.
    random_state : int, Generator or None.
    options : the other options of the solver, None where it is to choose.
    """
    climb_on = SOLVERS[check_choice("solver", solver, tuple(SOLVERS))]
    check_choice("multiple", multiple, MULTIPLE)
    count = check_count("n_components", n_components, at_most=whitening.rank)
    angle = check_number("minimum_angle", minimum_angle, low=0, high=90)
    rng = as_generator(random_state)
    rows = whitening.apply(X)
    climbs = _climbs(index, solver, select, max(32, _SPARE * count), options)
    limits = cycle(most_stages)
    if multiple == "merge":
        found = climb_on(rows, climbs, rng, next(limits))
        stages: tuple[int | None, ...] = (found[0].stage,)
    else:
        whitened, pooled = whitening.method == "exact", len(climbs) > 1

        def one(these: Array) -> tuple[Candidates, int | None]:
            tried = climb_on(these, climbs, rng, next(limits))
            first = choose(
                tried, these, count=1, minimum_angle=0.0, pooled=pooled, whitened=whitened
            )
            own = tried[int(first.members[0])]
            return replace(own, directions=first.directions, converged=first.converged), own.stage

        found, stages = _deflate(rows, one, count)
        angle = 0.0
    among = found_among(found, rows, whitening, count=count, angle=angle, pooled=len(climbs) > 1)
    return replace(among, stages=stages)


def found_among(
    found: Sequence[Candidates],
    rows: Array,
    whitening: Whitening,
    *,
    count: int,
    angle: float,
    pooled: bool = False,
) -> Found:
    """Rank candidates on whitened rows, and keep the `count` best that are `angle` apart."""
    chosen = choose(
        found,
        rows,
        count=count,
        minimum_angle=angle,
        pooled=pooled,
        whitened=whitening.method == "exact",
    )
    if len(chosen.values) < count:
        warnings.warn(
            f"{len(chosen.values)} of n_components={count} directions found: the candidates of "
            f"this climb hold no more that keep minimum_angle={angle:g} degrees from each other. "
            "Use more n_starts, a smaller minimum_angle, or multiple='deflate'.",
            UserWarning,
            stacklevel=4,
        )
    leading = found[int(chosen.members[0])]
    standard = chosen.strengths
    if standard is None and whitening.method == "exact":
        standard = chosen.values  # the scores have variance 1 as they are
    elif standard is None:
        standard = standard_values_along(leading.climb.psi, chosen.directions, rows)
    return Found(
        whitening,
        chosen.directions,
        chosen.values,
        chosen.converged,
        chosen.clear,
        standard,
        tuple(found[member].climb.phi.name for member in chosen.members),
        (None,),
        sum(one.n_steps for one in found),
        leading.n_samples_used,
        leading.step_sizes,
        leading.stopping_reason,
    )


def _climbs(
    index: Any, solver: str, select: Any, n_candidates: int, options: dict[str, Any]
) -> list[Climb]:
    """Return how each index that `index` stands for is to climb."""
    phis = members(index)
    if len(phis) > 1 and options.get("step_sizes") is not None:
        raise ValueError(
            f"step_sizes={options['step_sizes']!r} has no use with index='auto', whose indices "
            "have each their own; leave it out, or name one index."
        )
    auto = select is None if solver == "adaptive" else False
    weigh_modes = auto or (isinstance(select, str) and select == "auto")
    given = None if weigh_modes else select
    return [
        Climb(phi, selection_index(phi, given), weigh_modes, n_candidates, **options)
        for phi in phis
    ]


def _deflate(
    rows: Array, climb: Callable[[Array], tuple[Candidates, int | None]], count: int
) -> tuple[list[Candidates], tuple[int | None, ...]]:
    """Find one direction at a time, in coordinates of the complement of those before."""
    found: list[Candidates] = []
    stages: list[int | None] = []
    directions: list[np.ndarray] = []
    basis = np.eye(rows.shape[1])
    for _ in range(count):
        one, stage = climb(_in_coordinates(rows, like(basis, rows)))
        leading = to_numpy(take_rows(one.directions, np.zeros(1, dtype=np.int64)))[0]
        directions.append(basis @ leading.astype(np.float64))
        found.append(replace(one, directions=like(directions[-1][None, :], rows)))
        stages.append(stage)
        basis = linalg.null_space(np.stack(directions))
    return found, tuple(stages)


def _in_coordinates(rows: Array, basis: Array) -> Array:
    """Return the coordinates of the rows in a basis (r, k) of a subspace."""
    return map_rows(lambda block: block @ basis, rows, width=basis.shape[1])
