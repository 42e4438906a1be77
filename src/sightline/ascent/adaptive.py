"""The adaptive solver: many starts on all rows, merging, polishing, and effort as it is needed.

Fresh rows for every step, which the paper's analysis rests on, cost it 8 to 60 times the rows
that the problem needs. Here every start climbs on all rows. The cost is overfitting: near the
threshold the first optima to be reached, and the highest on the way, are spurious, so no start is
given up for a low value before it has arrived (halving by value loses most of the recoveries
there). Effort is saved otherwise: a quick look with few starts comes first, and a search of many
rows begins with some of them; either is enough where several starts meet in a leading optimum
whose scores are clearly of several modes. Starts that have arrived climb no further; starts that
have met go on as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sightline._arrays import Array, as_table, is_dask, namespace
from sightline._options import as_generator, check_count, check_number
from sightline.ascent.search import Options, Search, Stage, plan_stages
from sightline.ascent.steps import check_step_sizes
from sightline.indices import make_index, selection_index
from sightline.moments import check_scale
from sightline.sources.stored import lazy_rows


@dataclass(frozen=True, slots=True)
class AdaptiveAscent:
    """What `adaptive_ascent` found.

    Attributes
    ----------
    direction : (d,) the best direction.
    directions : (k, d) distinct optima, best first, the heavier tail of the scores positive.
    value : psi of `direction` on all rows.
    values : (k,) psi of all of them on all rows, on the host.
    met : (k,) how many starts came to within `minimum_angle` of each, on the host.
    clear : (k,) whether its scores are clearly of several modes (`selection.CLEAR_DIP`).
    converged : (k,) whether its last step turned it by less than a milliradian.
    n_steps : steps of climbing and polishing.
    n_starts : starts that climbed in the last stage.
    stage : the stage that was convincing, 1 for the first look; None where none was.
    n_samples_used : rows that the final directions were climbed or polished on.
    step_sizes : the two step sizes that were used.
    stopping_reason : why it ended, in words.
    """

    direction: Array
    directions: Array
    value: float
    values: np.ndarray
    met: np.ndarray
    clear: np.ndarray
    converged: np.ndarray
    n_steps: int
    n_starts: int
    stage: int | None
    n_samples_used: int
    step_sizes: tuple[float, float]
    stopping_reason: str


def adaptive_ascent(
    X: Array,
    *,
    index: Any = "relu2",
    select: Any = "auto",
    n_starts: int | None = None,
    n_steps: int | None = None,
    step_sizes: tuple[float, float] | None = None,
    starts: str | Array = "union",
    n_directions: int = 32,
    minimum_angle: float = 5.0,
    most_stages: int | None = None,
    random_state: Any = None,
) -> AdaptiveAscent:
    """Climb on all rows from many starts, merge, polish, and rank: the library's own solver.

    Parameters
    ----------
    X : (n, d) rows, taken as they are: centred, and whitened where that is wanted.
    index : phi, by name or as an object.
    select : psi by name or object; "auto" is the index's own psi with candidates whose scores
        are clearly of several modes before all others; "dip" is Hartigan's dip alone.
    n_starts : None takes quick looks with 64 and 192 and, unless one is convincing, 2048.
    n_steps : steps of the first step size; None is 16 log2 d.
    step_sizes : (eta_1, eta_2); None is the index's own.
    starts : "union", "data", "random", "moments", or directions.
    n_directions : how many distinct optima to return at the most.
    minimum_angle : degrees that they keep from each other.
    most_stages : end after so many stages (looks, the full search, growing numbers of rows) even
        where none was convincing; None goes on to all rows.
    random_state : int, Generator or None.
    """
    X = as_table(lazy_rows(X) if is_dask(X) else X, minimum_rows=2)
    check_scale(X, namespace(X).float32)  # candidates are polished in float32
    options = search_options(
        index,
        select,
        step_sizes=step_sizes,
        starts=starts,
        n_directions=n_directions,
        minimum_angle=minimum_angle,
    )
    stages = stages_of(X, starts, n_starts, n_steps, most_stages)
    search = Search(X, options, as_generator(random_state))
    for stage in stages:
        search.advance(stage)
        if search.convincing:
            break
    return finished(search)


def search_options(
    index: Any,
    select: Any,
    *,
    step_sizes: Any,
    starts: str | Array,
    n_directions: int,
    minimum_angle: float,
) -> Options:
    """Check what a search climbs by, and fill in what is left to the index."""
    phi = make_index(index)
    weigh_modes = isinstance(select, str) and select == "auto"
    return Options(
        phi,
        selection_index(phi, None if weigh_modes else select),
        weigh_modes,
        check_step_sizes(phi.step_sizes if step_sizes is None else step_sizes),
        starts,
        check_count("n_directions", n_directions),
        check_number("minimum_angle", minimum_angle, low=0, high=90),
    )


def stages_of(
    X: Array,
    starts: str | Array,
    n_starts: int | None,
    n_steps: int | None,
    most_stages: int | None = None,
) -> tuple[Stage, ...]:
    """Check how much effort was asked for, and return the stages that it makes."""
    for name, count in (("n_starts", n_starts), ("n_steps", n_steps)):
        if count is not None:
            check_count(name, count)
    n, d = X.shape
    stages = plan_stages(n, d, n_starts, n_steps, look=isinstance(starts, str))
    if most_stages is not None:
        stages = stages[: check_count("most_stages", most_stages)]
    return stages


def finished(search: Search) -> AdaptiveAscent:
    """Return what a search has found, polished and ranked on all rows."""
    ranked, settled = search.finish()
    return AdaptiveAscent(
        direction=ranked.directions[0, :],
        directions=ranked.directions,
        value=float(ranked.values[0]),
        values=ranked.values,
        met=ranked.met,
        clear=ranked.clear,
        converged=settled,
        n_steps=search.n_steps,
        n_starts=search.n_starts,
        stage=search.n_stages if search.convincing else None,
        n_samples_used=search.X.shape[0],
        step_sizes=search.options.etas,
        stopping_reason=search.account,
    )
