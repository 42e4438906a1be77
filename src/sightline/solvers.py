"""What climbs: the adaptive solver and the paper's two steps, for one index or several.

A solver takes one `Climb` an index and returns one `Candidates` for each. Indices that search
together by the adaptive solver go on stage by stage, until one of them has found something.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sightline._arrays import Array, namespace, to_numpy
from sightline.ascent import two_step_gradient_ascent
from sightline.ascent.adaptive import finished, search_options, stages_of
from sightline.ascent.search import Search
from sightline.indices import Index
from sightline.sphere import tangent
from sightline.sums import index_gradients

_SETTLED_DEGREES = 1.0
"""A two-step direction has converged when one more step would turn it by less than this."""

_NEAR_DEGREES = 5.0
"""Candidates of an adaptive search keep this from each other."""


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
    """What a climb hands over.

    Attributes
    ----------
    climb : by what it climbed.
    directions : (m, d) candidates.
    converged : (m,) whether each stands still, on the host.
    n_steps, n_samples_used, step_sizes, stopping_reason : its account.
    stage : the stage that was convincing, for any of the indices; None where none was.
    """

    climb: Climb
    directions: Array
    converged: np.ndarray
    n_steps: int
    n_samples_used: int
    step_sizes: tuple[float, float]
    stopping_reason: str
    stage: int | None = None


Solver = Callable[[Array, Sequence[Climb], np.random.Generator, int | None], "list[Candidates]"]


def _adaptive(
    rows: Array, climbs: Sequence[Climb], rng: np.random.Generator, most_stages: int | None
) -> list[Candidates]:
    """Climb as `adaptive_ascent` does; what convinces one index ends the search of all."""
    unused = climbs[0].given("resample", "batch_size")
    if unused:
        name, value = next(iter(unused.items()))
        raise ValueError(
            f"{name}={value!r} has no use with solver='adaptive', which climbs on all rows; "
            "leave it out, or use solver='two-step'."
        )
    starts = "union" if climbs[0].starts is None else climbs[0].starts
    stages = stages_of(rows, starts, climbs[0].n_starts, climbs[0].n_steps, most_stages)
    searches = [
        Search(
            rows,
            search_options(
                climb.phi,
                "auto" if climb.weigh_modes else climb.psi,
                step_sizes=climb.step_sizes,
                starts=starts,
                n_directions=climb.n_candidates,
                minimum_angle=_NEAR_DEGREES,
            ),
            rng,
        )
        for climb in climbs
    ]
    for stage in stages:
        for search in searches:
            search.advance(stage)
        if any(search.convincing for search in searches):
            break
    convincing = any(search.convincing for search in searches)
    found = []
    for climb, search in zip(climbs, searches, strict=True):
        ascent = finished(search)
        found.append(
            Candidates(
                climb,
                ascent.directions,
                ascent.converged,
                ascent.n_steps,
                ascent.n_samples_used,
                ascent.step_sizes,
                ascent.stopping_reason,
                search.n_stages if convincing else None,
            )
        )
    return found


def _two_step(
    rows: Array,
    climbs: Sequence[Climb],
    rng: np.random.Generator,
    most_stages: int | None,  # noqa: ARG001  (it has one stage)
) -> list[Candidates]:
    """Climb by `two_step_gradient_ascent`, on all rows unless asked otherwise."""
    return [_one_two_step(rows, climb, rng) for climb in climbs]


def _one_two_step(rows: Array, climb: Climb, rng: np.random.Generator) -> Candidates:
    options = climb.given("n_starts", "starts", "n_steps", "step_sizes", "resample", "batch_size")
    if "batch_size" in options and options.get("resample", "full") == "full":
        raise ValueError(
            f"batch_size={climb.batch_size!r} has no use with resample='full', the default, which "
            "climbs on all rows; leave it out, or use resample='replace' or 'fresh'."
        )
    found = two_step_gradient_ascent(
        rows,
        index=climb.phi,
        select=climb.psi,
        random_state=rng,
        **({"resample": "full"} | options),
    )
    return Candidates(
        climb,
        found.directions,
        settled(climb.phi, found.directions, rows, found.step_sizes[1]),
        found.history.shape[0],
        found.n_samples_used,
        found.step_sizes,
        found.stopping_reason,
    )


SOLVERS: dict[str, Solver] = {"adaptive": _adaptive, "two-step": _two_step}


def settled(phi: Index, directions: Array, rows: Array, step_size: float) -> np.ndarray:
    """Say for each direction whether one more step on all rows would leave it where it is."""
    xp = namespace(directions)
    gradient = tangent(directions, index_gradients(phi, directions, rows))
    turn = np.arctan(step_size * to_numpy(xp.sqrt(xp.sum(gradient * gradient, axis=1))))
    return np.asarray(np.rad2deg(turn) < _SETTLED_DEGREES)
