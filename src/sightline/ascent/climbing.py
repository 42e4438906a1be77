"""Climbing many starts on the same rows: who has arrived waits, who has met goes on as one."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sightline._arrays import Array, like, namespace, take_rows, to_numpy
from sightline.ascent.polishing import SETTLED, with_rows
from sightline.indices import Index
from sightline.resuming import climb as known_climb
from sightline.selection import distinct
from sightline.sphere import normalise, tangent
from sightline.sums import index_gradients

SAME = 1.0
"""Degrees within which two climbed directions are one optimum."""

_MEETING = 0.1
"""Degrees within which two that are on their way go on as one: so near, they don't part again."""


@dataclass(frozen=True, slots=True)
class Climbed:
    """Directions (m, d), how far each moved last (m,), how many starts it stands for (m,)."""

    directions: Array
    moved: np.ndarray
    met: np.ndarray
    steps: int


def begin_at(starts: Array) -> Climbed:
    """Return starts (m, d) before the first step."""
    count = starts.shape[0]
    return Climbed(starts, np.full(count, np.inf), np.ones(count, dtype=np.int64), 0)


def ascend(
    phi: Index, begin: Climbed, rows: Array, eta: float, steps: int, *, rough: bool = False
) -> Climbed:
    """Take `steps` more steps, of one size.

    Now and then, those that stand still are left where they are, and those that have met go on
    as one. Rough steps may round their products (`sums.index_gradients`).
    """
    climbed = replace(begin, moved=np.full(begin.met.size, np.inf))
    climbing = np.arange(begin.met.size)
    pause = max(4, steps // 8)
    record = known_climb(begin.directions, rows, phi.name, eta, steps=steps)
    if record.state is not None:
        known = record.state
        directions = like(known["directions"], begin.directions)
        climbed = Climbed(directions, known["moved"], known["met"], begin.steps + record.step)
        climbing = known["climbing"]
    step = record.step
    while step < steps and climbing.size:
        step += 1
        whole = climbing.size == climbed.met.size
        u = climbed.directions if whole else take_rows(climbed.directions, climbing)
        ahead = normalise(u + eta * tangent(u, index_gradients(phi, u, rows, rough=rough)))
        if step % pause == 0 or step == steps:
            climbed.moved[climbing] = _turn(ahead, u)
        directions = with_rows(climbed.directions, climbing, ahead)
        climbed = replace(climbed, directions=directions, steps=begin.steps + step)
        if step % pause == 0:
            climbed = merge(climbed, _MEETING)
            climbing = np.flatnonzero(climbed.moved >= SETTLED / 10)
        state = {
            "directions": climbed.directions,
            "moved": climbed.moved,
            "met": climbed.met,
            "climbing": climbing,
        }
        record.done(step, state, last=not climbing.size)
    return climbed


def _turn(ahead: Array, behind: Array) -> np.ndarray:
    xp = namespace(ahead)
    return to_numpy(xp.sqrt(xp.sum((ahead - behind) ** 2, axis=1)))


def merge(climbed: Climbed, within: float = SAME) -> Climbed:
    """Keep one of all directions that have come within so many degrees of each other."""
    kept, met = distinct(to_numpy(climbed.directions), within, weights=climbed.met)
    return Climbed(take_rows(climbed.directions, kept), climbed.moved[kept], met, climbed.steps)
