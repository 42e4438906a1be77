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

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sightline._arrays import Array, as_table, namespace, take_rows, to_numpy
from sightline._options import as_generator, check_count, check_number
from sightline.ascent.climbing import SAME, Climbed, ascend, merge
from sightline.ascent.polishing import SETTLED, polish
from sightline.ascent.steps import check_step_sizes
from sightline.indices import Index, make_index, selection_index
from sightline.rows import random_rows
from sightline.selection import Ranked, rank_directions
from sightline.starts import make_starts
from sightline.sums import index_values

N_STARTS = 2048
"""Starts of a full search: from here on, doubling them moved no threshold by an eighth."""

_STEPS = 16
"""Steps of the long step size, times log2 d; a quarter as many of the short one follow."""

_LOOK_STARTS, _LOOK_STEPS = 256, 6
"""Starts and steps (times log2 d) of the quick look."""

_ROWS = 20_000
"""Rows that a search begins on (or 50 d, if that is more); then four times as many, and so on."""

_DRAWN = 2**25
"""Numbers that a sample of the rows has at the most: beyond, a search goes on with all rows."""

_NEAR = 10.0
"""Degrees within which starts that are still on their way are making for one optimum."""

_MET = 16
"""Starts that must be making for a clear optimum for a search to end early."""

_POLISHED = 64
"""Candidates that are polished where polishing all would cost more than the climb."""


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
    n_starts : starts that climbed.
    looked : starts and steps of the first look, where it was convincing; None where more followed.
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
    looked: tuple[int, int] | None
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
    random_state: Any = None,
) -> AdaptiveAscent:
    """Climb on all rows from many starts, merge, polish, and rank: the library's own solver.

    Parameters
    ----------
    X : (n, d) rows, taken as they are: centred, and whitened where that is wanted.
    index : phi, by name or as an object.
    select : psi by name or object; "auto" is the index's own psi with candidates whose scores
        are clearly of several modes before all others; "dip" is Hartigan's dip alone.
    n_starts : None takes a quick look with 256 and, unless that is convincing, 2048.
    n_steps : steps of the first step size; None is 16 log2 d.
    step_sizes : (eta_1, eta_2); None is the index's own.
    starts : "union", "data", "random", "moments", or directions.
    n_directions : how many distinct optima to return at the most.
    minimum_angle : degrees that they keep from each other.
    random_state : int, Generator or None.
    """
    X = as_table(X, minimum_rows=2)
    phi = make_index(index)
    weigh_modes = isinstance(select, str) and select == "auto"
    psi = selection_index(phi, None if weigh_modes else select)
    search = _Search(
        X,
        phi,
        psi,
        check_step_sizes(phi.step_sizes if step_sizes is None else step_sizes),
        weigh_modes,
        check_count("n_directions", n_directions),
        check_number("minimum_angle", minimum_angle, low=0, high=90),
        as_generator(random_state),
    )
    scale = max(1.0, math.log2(X.shape[1]))
    stages = [(N_STARTS, math.ceil(_STEPS * scale))]
    if n_starts is None and n_steps is None and isinstance(starts, str):
        stages.insert(0, (_LOOK_STARTS, math.ceil(_LOOK_STEPS * scale)))
    if n_starts is not None:
        stages[-1] = (check_count("n_starts", n_starts), stages[-1][1])
    if n_steps is not None:
        stages[-1] = (stages[-1][0], check_count("n_steps", n_steps))
    return search.run(starts, stages)


@dataclass(frozen=True, slots=True)
class _Search:
    """The options of one search, checked, and its stages."""

    X: Array
    phi: Index
    psi: Index
    etas: tuple[float, float]
    weigh_modes: bool
    n_directions: int
    minimum_angle: float
    rng: np.random.Generator

    def run(self, starts: str | Array, stages: list[tuple[int, int]]) -> AdaptiveAscent:
        """Climb stage after stage, on more and more rows, until one convinces or all is done."""
        xp, n = namespace(self.X), self.X.shape[0]
        size = min(n, max(_ROWS, 50 * self.X.shape[1]))
        sizes = [size] * len(stages)
        while sizes[-1] < n:
            more = 4 * sizes[-1]
            sizes.append(more if more < n and more * self.X.shape[1] <= _DRAWN else n)
            stages = [*stages, stages[-1]]
        leading = looked = None
        for (count, steps), size in zip(stages, sizes, strict=True):
            rows = self.some_rows(size)
            begin = make_starts(rows, starts, count, self.rng)
            looked = (count, steps) if leading is None else None
            if leading is not None:
                begin = xp.concat((leading.directions, begin))
            climbed = self.climb(rows, begin, steps)
            leading = self.rank(rows, climbed.directions, _POLISHED, _NEAR, climbed.met)
            met = int(leading.met[0])
            if leading.clear[0] and met >= _MET:
                reason = (
                    f"{met} of {begin.shape[0]} starts on {size} of {n} rows made for one "
                    "direction, clearly of several modes"
                )
                break
        else:
            looked = None
            reason = f"all {begin.shape[0]} starts climbed {steps} steps on all rows"
        return self.finish(climbed, begin.shape[0], looked, reason)

    def some_rows(self, size: int) -> Array:
        """Return `size` rows drawn without replacement, in their order; all are `X` itself."""
        if size == self.X.shape[0]:
            return self.X
        return take_rows(self.X, np.sort(random_rows(self.X.shape[0], size, self.rng)))

    def climb(self, rows: Array, begin: Array, steps: int) -> Climbed:
        """Take long steps, merge what has met, then a quarter as many short ones, and merge.

        Where an accelerator rounds the products of the long steps, the short ones are in full.
        """
        first = ascend(self.phi, begin, rows, self.etas[0], steps, rough=True)
        merged = merge(first)
        second = ascend(self.phi, merged.directions, rows, self.etas[1], -(-steps // 4))
        return merge(
            Climbed(second.directions, second.moved, merged.met, first.steps + second.steps)
        )

    def finish(
        self, climbed: Climbed, n_starts: int, looked: tuple[int, int] | None, reason: str
    ) -> AdaptiveAscent:
        """Polish on all rows, keep climbed and polished candidates both, and rank."""
        xp = namespace(self.X)
        chosen = climbed.directions
        if self.phi.polish != "sparse":  # it refits every direction: leave that to the leading
            chosen = self.rank(self.X, chosen, _POLISHED).directions
        polished = polish(self.phi.polish, chosen, self.X)
        kept = self.worthy(polished.directions, climbed.directions)
        candidates = xp.concat((climbed.directions, take_rows(polished.directions, kept)))
        moved = np.concatenate((climbed.moved, polished.moved[kept]))
        met = np.concatenate((climbed.met, np.zeros(kept.size, dtype=np.int64)))
        ranked = self.rank(self.X, candidates, self.n_directions, self.minimum_angle, met)
        return AdaptiveAscent(
            direction=ranked.directions[0, :],
            directions=ranked.directions,
            value=float(ranked.values[0]),
            values=ranked.values,
            met=ranked.met,
            clear=ranked.clear,
            converged=moved[ranked.sources] < SETTLED,
            n_steps=climbed.steps,
            n_starts=n_starts,
            looked=looked,
            n_samples_used=self.X.shape[0],
            step_sizes=self.etas,
            stopping_reason=reason,
        )

    def worthy(self, polished: Array, climbed: Array) -> np.ndarray:
        """Return positions of polished directions that the index still finds interesting.

        A fixed point may end in a direction that is far from normal in another sense than the
        index's; one below the middle of the climbed values is such.
        """
        values = to_numpy(index_values(self.psi, polished, self.X))
        middle = np.median(to_numpy(index_values(self.psi, climbed, self.X)))
        return np.flatnonzero(values >= middle)

    def rank(
        self,
        rows: Array,
        directions: Array,
        count: int,
        minimum_angle: float = SAME,
        met: np.ndarray | None = None,
    ) -> Ranked:
        """Rank candidates on some rows by this search's rule."""
        return rank_directions(
            directions,
            rows,
            self.psi,
            count=count,
            minimum_angle=minimum_angle,
            weigh_modes=self.weigh_modes,
            weights=met,
        )
