"""Gradient ascent on the sphere: the paper's Algorithm 1.

All starts climb together. With directions U (m, d), one step on a batch is

    G = tangent(U, gradient of mean phi(<x, u>)),      U <- normalise(U + eta G),

and of the iterates u_1 .. u_s of a start the one with the largest psi is its candidate.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sightline._arrays import Array, as_table, is_lazy, like, namespace, to_numpy
from sightline._options import check_choice, check_count, check_number
from sightline.ascent.comparing import MOST_HELD, values_of_iterates
from sightline.drawn import are_drawn_from, as_array, is_drawn
from sightline.indices import Index, make_index, selection_index
from sightline.resuming import climb as known_climb
from sightline.sphere import normalise, tangent
from sightline.starts import unit_rows
from sightline.sums import drawn_gradients, index_gradients, values_and_gradients


@dataclass(frozen=True, slots=True)
class Ascent:
    """Where each start of `gradient_ascent` got to.

    Attributes
    ----------
    directions : (m, d) the best iterate of each start by psi.
    values : (m,) its psi on the rows that iterates were compared on, on the host.
    best_step : (m,) the step, 1 to s, that it was reached by, on the host.
    history : (s, m) psi of every iterate, on the host.
    n_samples_used : rows that the steps climbed on.
    stopping_reason : why it ended, in words.
    """

    directions: Array
    values: np.ndarray
    best_step: np.ndarray
    history: np.ndarray
    n_samples_used: int
    stopping_reason: str


def gradient_ascent(
    batches: Iterable[Array],
    directions: Array,
    *,
    index: Any,
    step_size: float,
    n_steps: int,
    select: Any = None,
    evaluate_on: Array | str | None = None,
) -> Ascent:
    """Climb from every direction, one batch a step: Algorithm 1.

    Parameters
    ----------
    batches : `n_steps` batches of rows (b, d); a step climbs on the next one.
    directions : (m, d) starts; they are normalised.
    index : phi, by name or as an object.
    step_size : eta.
    n_steps : s.
    select : psi; None is the one that the index declares.
    evaluate_on : rows on which iterates are compared by psi. None is all rows of all batches; the
        print says "the first n", which are the batch that produced u_1 and favour it:
        "first-batch" does that.
    """
    phi = make_index(index)
    psi = selection_index(phi, select)
    eta = check_number("step_size", step_size, low=0, open_low=True)
    steps = check_count("n_steps", n_steps)
    u = unit_rows(directions, "directions")
    supply, compared = _compared_rows(_supply(batches, steps, u.shape[1]), evaluate_on, u)

    best = _Best(psi, compared, u)
    rows_used = 0
    gradient = None
    climb = known_climb(u, compared, phi.name, psi.name, eta, steps=steps)
    if climb.state is not None:
        u = like(climb.state["u"], u)
        best.take_up(climb.state)
    for i, (batch, following) in enumerate(_with_next(supply), start=1):
        rows_used += batch.shape[0]
        if i <= climb.step:  # an earlier process has taken this step
            continue
        if gradient is None and i > 1 and are_drawn_from(batch, compared):
            gradient = drawn_gradients(psi, phi, u, batch)
        elif gradient is None:
            gradient = index_gradients(phi, u, as_array(batch))
        g = tangent(u, gradient)
        u = normalise(u + eta * g)  # u_{i+1}: the print has the index i there, a slip
        # The next step's scores may be among these: one product fewer.
        if following is compared:
            value, gradient = values_and_gradients(psi, phi, u, compared)
            best.compare(u, to_numpy(value))
        elif are_drawn_from(following, compared) and not is_lazy(compared):
            value, gradient = values_and_gradients(psi, phi, u, compared, following)
            best.compare(u, to_numpy(value))
        else:
            gradient = None
            best.wait(u, last=i == steps)
        climb.done(i, {"u": u} | best.state())
    reason = f"all {steps} steps done"
    return Ascent(best.u, best.value, best.step, np.stack(best.history), rows_used, reason)


class _Best:
    """The best iterate of each start so far by psi, and those that wait to be compared.

    Candidates are u_1 .. u_s, the last one included and the start u_0 not.
    """

    def __init__(self, psi: Index, rows: Array, starts: Array) -> None:
        self.psi, self.rows = psi, rows
        self.u, self.waiting = starts, list[Array]()
        self.value = np.full(starts.shape[0], -np.inf)
        self.step = np.zeros(starts.shape[0], dtype=np.int64)
        self.history: list[np.ndarray] = []

    def compare(self, u: Array, value: np.ndarray) -> None:
        """Take note of the next iterate and its values (m,)."""
        self.history.append(finite_values(value, len(self.history) + 1))
        better = value > self.value
        self.u = namespace(u).where(like(better, u, namespace(u).bool)[:, None], u, self.u)
        self.value = np.where(better, value, self.value)
        self.step[better] = len(self.history)

    def wait(self, u: Array, *, last: bool) -> None:
        """Let an iterate wait for others, where reading the rows costs more than holding it."""
        self.waiting.append(u)
        held = len(self.waiting) * u.shape[0] * u.shape[1]
        if last or not is_lazy(self.rows) or held > MOST_HELD:
            values = values_of_iterates(self.psi, self.waiting, self.rows)
            for iterate, value in zip(self.waiting, values, strict=True):
                self.compare(iterate, value)
            self.waiting = []

    def state(self) -> dict[str, Any]:
        """Return what another process needs to go on."""
        known = {"best": self.u, "best_value": self.value, "best_step": self.step}
        lists = {"history": self.history, "waiting": self.waiting}
        return known | {name: some for name, some in lists.items() if some}

    def take_up(self, state: dict[str, np.ndarray]) -> None:
        """Go on from where another process was."""
        self.waiting = [like(u, self.u) for u in state.get("waiting", ())]
        self.history = list(state.get("history", ()))
        self.u = like(state["best"], self.u)
        self.value, self.step = state["best_value"], state["best_step"]


def _supply(batches: Iterable[Array], steps: int, dimension: int) -> Iterator[Array]:
    """Yield `steps` batches that fit the directions; too few, or a misfit, is an error."""
    given, last, rows = 0, None, None
    for given, batch in enumerate(itertools.islice(batches, steps), start=1):
        if batch is not last:  # the same rows every time are looked through once
            last, rows = batch, batch if is_drawn(batch) else as_table(batch, f"batch {given}")
            if rows.shape[1] != dimension:
                raise ValueError(
                    f"batch {given} has {rows.shape[1]} columns; the directions have {dimension}."
                )
        yield rows
    if given < steps:
        raise ValueError(
            f"batches ended after {given} of n_steps={steps}; a step climbs on a batch of its "
            "own. Give more batches, or repeat them (itertools.cycle)."
        )


def _with_next(supply: Iterable[Array]) -> Iterator[tuple[Array, Array | None]]:
    """Yield each batch with the one after it, which the last one does not have."""
    given, following = itertools.tee(supply)
    next(following, None)
    return itertools.zip_longest(given, following)


def _compared_rows(
    supply: Iterator[Array], evaluate_on: Array | str | None, directions: Array
) -> tuple[Iterable[Array], Array]:
    """Return the batches, and the rows on which iterates are compared."""
    if evaluate_on is None:
        taken = list(supply)
        same = all(batch is taken[0] for batch in taken)
        return taken, taken[0] if same else namespace(*taken).concat(taken)
    if isinstance(evaluate_on, str):
        check_choice("evaluate_on", evaluate_on, ("first-batch",))
        first = next(supply)
        return itertools.chain((first,), supply), first
    rows = as_table(evaluate_on, "evaluate_on")
    if rows.shape[1] != directions.shape[1]:
        raise ValueError(
            f"evaluate_on has {rows.shape[1]} columns; the directions have {directions.shape[1]}."
        )
    return supply, rows


def finite_values(values: np.ndarray, step: int) -> np.ndarray:
    """Return the values, or say that the rows' scale is beyond what the index can hold."""
    if not np.isfinite(values).all():
        raise ValueError(
            f"the index overflowed at step {step}: the rows are too large for it. Whiten them "
            "first, or divide them by their largest absolute value."
        )
    return values
