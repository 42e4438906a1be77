"""Two runs of gradient ascent, a long step size and then a short one: the paper's Algorithm 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sightline._arrays import Array, as_table, is_dask, take_rows, to_numpy
from sightline._options import as_generator, check_choice, check_count
from sightline.ascent.batches import FreshRows
from sightline.ascent.one_run import gradient_ascent
from sightline.ascent.steps import check_step_sizes, default_steps
from sightline.drawn import draw
from sightline.indices import make_index, selection_index
from sightline.moments import check_scale
from sightline.sources.stored import lazy_rows
from sightline.starts import data_starts, make_starts
from sightline.sums import index_values

RESAMPLE = ("fresh", "replace", "full")


@dataclass(frozen=True, slots=True)
class TwoStepAscent:
    """What `two_step_gradient_ascent` found.

    Attributes
    ----------
    direction : (d,) the best direction by psi on all rows.
    directions : (m, d) every start's candidate, best first.
    value : psi of `direction` on all rows.
    values : (m,) psi of all candidates on all rows, on the host.
    n_samples_used : rows read for starts and steps; fresh batches read each row once.
    history : (2 s, m) psi of every iterate of each direction, on the host.
    step_sizes : the two step sizes that were used.
    stopping_reason : why it ended, in words.
    """

    direction: Array
    directions: Array
    value: float
    values: np.ndarray
    n_samples_used: int
    history: np.ndarray
    step_sizes: tuple[float, float]
    stopping_reason: str


def two_step_gradient_ascent(
    X: Array,
    *,
    index: Any,
    n_starts: int = 400,
    batch_size: int | None = None,
    n_steps: int | None = None,
    step_sizes: tuple[float, float] | None = None,
    resample: str = "fresh",
    select: Any = None,
    starts: str | Array = "data",
    random_state: Any = None,
) -> TwoStepAscent:
    """Climb with a large step size, then from the best iterates with a small one: Algorithm 2.

    Parameters
    ----------
    X : (n, d) rows, taken as they are: centred, and whitened where that is wanted.
    index : phi, by name or as an object.
    n_starts : n_init, how many starts.
    batch_size : rows of a batch, the paper's n. None takes all that there are: the rows left
        over from the starts, shared out among the steps ("fresh"), or as many rows as X has.
        With "full" every batch is X, whatever is asked for, so that the three ways can be
        compared by one call.
    n_steps : s, steps of each of the two runs; None is 2 log2 d, as in the paper.
    step_sizes : (eta_1, eta_2); None is the index's own, for whitened rows. `paper_step_sizes`
        gives the paper's.
    resample : "fresh" takes new rows for every batch, as the algorithm is printed, and so needs
        n_starts + 2 batch_size n_steps rows (of very many rows, whole blocks:
        `sightline.ascent.batches`); "replace" draws every batch anew from all rows; "full"
        climbs on all rows in every step.
    select : psi; None is the one that the index declares.
    starts : "data", "random", "moments" or "union" (see `starts.make_starts`), or directions.
    random_state : int, Generator or None.
    """
    X = as_table(lazy_rows(X) if is_dask(X) else X, minimum_rows=2)
    check_scale(X)
    phi = make_index(index)
    psi = selection_index(phi, select)
    check_choice("resample", resample, RESAMPLE)
    s = default_steps(X.shape[1]) if n_steps is None else check_count("n_steps", n_steps)
    etas = check_step_sizes(phi.step_sizes if step_sizes is None else step_sizes)
    rng = as_generator(random_state)
    own_rows = isinstance(starts, str) and starts == "data" and resample == "fresh"
    if own_rows:  # the rows of the starts are spent: steps take others
        used = check_count("n_starts", n_starts, at_most=X.shape[0])
    else:
        used, u = 0, make_starts(X, starts, n_starts, rng)
    size = _batch_size(X.shape[0] - used, batch_size, s, resample, used)
    if resample == "fresh":
        fresh = FreshRows(X, used, size, s, rng)
        size = fresh.size
    if own_rows:
        u = data_starts(take_rows(X, fresh.starts), used, rng)

    history = []
    for run, eta in enumerate(etas):
        if resample == "fresh":
            rows, batches = fresh.run(run)
        elif resample == "replace":
            rows = X
            batches = (draw(X, rng.integers(X.shape[0], size=size)) for _ in range(s))
        else:
            rows = X
            batches = (X for _ in range(s))
        climbed = gradient_ascent(
            batches, u, index=phi, step_size=eta, n_steps=s, select=psi, evaluate_on=rows
        )
        u = climbed.directions
        history.append(climbed.history)

    # The last run compared its iterates on all rows already, unless batches were fresh.
    values = climbed.values if rows is X else to_numpy(index_values(psi, u, X))
    best_first = np.argsort(-values, kind="stable")
    u = take_rows(u, best_first)
    return TwoStepAscent(
        direction=u[0, :],
        directions=u,
        value=float(values[best_first[0]]),
        values=values[best_first],
        n_samples_used=used + 2 * size * s if resample == "fresh" else X.shape[0],
        history=np.concatenate(history)[:, best_first],
        step_sizes=etas,
        stopping_reason=f"all 2 x {s} steps done",
    )


def _batch_size(available: int, batch_size: int | None, s: int, resample: str, used: int) -> int:
    """Return the rows of a batch, or say how many rows fresh batches would need."""
    size = None if batch_size is None else check_count("batch_size", batch_size)
    if resample != "fresh":
        return available + used if size is None else size
    if size is None:
        size = available // (2 * s)
    if size < 1 or size * 2 * s > available:
        size = max(size, 1)
        raise ValueError(
            f"resample='fresh' needs {used} rows for the starts and 2 x {s} steps x "
            f"{size} rows = {used + 2 * s * size} rows; X has {available + used}. Use a smaller "
            "batch_size, fewer n_steps or n_starts, or resample='replace' (batches drawn again "
            "from the same rows) or 'full' (all rows in every step)."
        )
    return size
