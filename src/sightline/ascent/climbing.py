"""Climbing many starts on the same rows: who has arrived waits, who has met goes on as one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sightline._arrays import Array, like, namespace, take_rows, to_numpy
from sightline.ascent.polishing import SETTLED
from sightline.indices import Index
from sightline.resuming import climb as known_climb
from sightline.selection import distinct
from sightline.sphere import normalise, tangent
from sightline.sums import index_gradients

SAME = 1.0
"""Degrees within which two climbed directions are one optimum."""


@dataclass(frozen=True, slots=True)
class Climbed:
    """Directions (m, d), how far each moved last (m,), how many starts it stands for (m,)."""

    directions: Array
    moved: np.ndarray
    met: np.ndarray
    steps: int


def ascend(
    phi: Index, begin: Array, rows: Array, eta: float, steps: int, *, rough: bool = False
) -> Climbed:
    """Take `steps` steps of one size; directions that stand still are left where they are.

    Rough steps may round their products (`sums.index_gradients`).
    """
    directions, moved = begin, np.full(begin.shape[0], np.inf)
    climbing = np.arange(begin.shape[0])
    pause = max(4, steps // 8)
    record = known_climb(begin, rows, phi.name, eta, steps=steps)
    if record.state is not None:
        directions = like(record.state["directions"], begin)
        moved, climbing = record.state["moved"], record.state["climbing"]
    step = record.step
    while step < steps and climbing.size:
        step += 1
        u = take_rows(directions, climbing) if climbing.size < moved.size else directions
        ahead = normalise(u + eta * tangent(u, index_gradients(phi, u, rows, rough=rough)))
        if step % pause == 0 or step == steps:
            moved[climbing] = _turn(ahead, u)
        directions = _with_rows(directions, climbing, ahead)
        if step % pause == 0:
            climbing = np.flatnonzero(moved >= SETTLED / 10)
        state = {"directions": directions, "moved": moved, "climbing": climbing}
        record.done(step, state, last=not climbing.size)
    return Climbed(directions, moved, np.ones(moved.size, dtype=np.int64), step)


def _with_rows(directions: Array, rows: np.ndarray, values: Array) -> Array:
    """Return `directions` with the rows at some positions replaced."""
    if rows.size == directions.shape[0]:
        return values
    xp = namespace(directions)
    place = np.arange(directions.shape[0])
    place[rows] = directions.shape[0] + np.arange(rows.size)
    return take_rows(xp.concat((directions, values)), place)


def _turn(ahead: Array, behind: Array) -> np.ndarray:
    xp = namespace(ahead)
    return to_numpy(xp.sqrt(xp.sum((ahead - behind) ** 2, axis=1)))


def merge(climbed: Climbed) -> Climbed:
    """Keep one of all directions that have met."""
    kept, met = distinct(to_numpy(climbed.directions), SAME, weights=climbed.met)
    return Climbed(take_rows(climbed.directions, kept), climbed.moved[kept], met, climbed.steps)
