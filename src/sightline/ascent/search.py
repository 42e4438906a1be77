"""One search by the adaptive solver: its stages, when one of them convinces, and its end.

A stage is so many starts, so many steps, on so many rows. Stages take more starts first and more
rows after that, and each begins with what led the one before. `Search.advance` runs one;
`Search.finish` polishes what the last one found, on all rows. Several searches can so go on in
step, and all end where one has found something (`sightline.portfolio`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from sightline._arrays import Array, namespace, take_rows
from sightline.ascent.climbing import SAME, Climbed, ascend, begin_at, merge
from sightline.ascent.polishing import SETTLED, polish
from sightline.indices import Index
from sightline.rows import random_rows
from sightline.selection import Ranked, Scored, score_directions
from sightline.starts import make_starts, moment_starts
from sightline.sums import may_be_rough

N_STARTS = 2048
"""Starts of a full search: from here on, doubling them moved no threshold by an eighth."""

_STEPS = 16
"""Steps of the long step size, times log2 d; a quarter as many of the short one follow."""

_LOOKS, _LOOK_STEPS = (64, 192), 6
"""Starts of the two quick looks, and their steps (times log2 d)."""

_ROWS = 20_000
"""Rows that a search begins on (or 50 d, if that is more); then four times as many, and so on."""

_DRAWN = 2**25
"""Numbers that a sample of the rows has at the most: beyond, a search goes on with all rows."""

_FEWEST = 256
"""Each stage of four times the rows has a quarter of the new starts, but so many at least."""

_NEAR = 10.0
"""Degrees within which starts that are still on their way are making for one optimum."""

_MET = 16
"""Starts that must be making for a clear optimum for a search to end early."""

_MOMENTS = 64
"""Starts from moments that are polished as they are, where an index looks for groups."""

_LEADING = 64
"""Directions that lead a stage: they begin the next one."""


@dataclass(frozen=True, slots=True)
class Stage:
    """How many new starts climb how many steps on how many rows."""

    n_starts: int
    n_steps: int
    n_rows: int


def plan_stages(
    n: int, d: int, n_starts: int | None, n_steps: int | None, *, look: bool
) -> tuple[Stage, ...]:
    """Return the stages of a search of (n, d) rows; starts and steps are the caller's, or None."""
    scale = max(1.0, math.log2(d))
    rows = min(n, max(_ROWS, 50 * d))
    stages = []
    if look and n_starts is None and n_steps is None:
        stages = [Stage(count, math.ceil(_LOOK_STEPS * scale), rows) for count in _LOOKS]
    stages.append(Stage(n_starts or N_STARTS, n_steps or math.ceil(_STEPS * scale), rows))
    while stages[-1].n_rows < n:
        last = stages[-1]
        fewer = max(last.n_starts // 4, min(_FEWEST, last.n_starts))
        more = 4 * last.n_rows
        more = more if more < n and more * d <= _DRAWN else n
        stages.append(replace(last, n_starts=fewer, n_rows=more))
    return tuple(stages)


@dataclass(frozen=True, slots=True)
class Options:
    """What a search climbs by and chooses by, checked."""

    phi: Index
    psi: Index
    weigh_modes: bool
    etas: tuple[float, float]
    starts: str | Array
    n_directions: int
    minimum_angle: float


@dataclass(slots=True)
class Search:
    """A search that is under way.

    Attributes
    ----------
    X : (n, d) rows.
    options : what it climbs by.
    rng : its source of randomness.
    leading : what led the last stage, with how many starts were making for each.
    n_stages : stages done.
    n_starts : starts of the last one.
    n_steps : steps of the last one.
    """

    X: Array
    options: Options
    rng: np.random.Generator
    leading: Ranked | None = None
    n_stages: int = 0
    n_starts: int = 0
    n_steps: int = 0
    _rows: Array = field(init=False, repr=False, default=None)
    _rough: bool = field(init=False, repr=False, default=False)
    _climbed: Climbed = field(init=False, repr=False)
    _scored: Scored = field(init=False, repr=False)

    def advance(self, stage: Stage) -> None:
        """Climb from new starts and from what led so far."""
        rows = self._some_rows(stage.n_rows)
        if rows is not self._rows:  # the looks and the full search may share theirs
            self._rows, self._rough = rows, may_be_rough(self.options.phi, rows)
        begin = make_starts(self._rows, self.options.starts, stage.n_starts, self.rng)
        if self.leading is not None:
            begin = namespace(begin).concat((self.leading.directions, begin))
        self.n_starts = int(begin.shape[0])
        climbed = self._climb(begin, stage.n_steps)
        self.n_steps = climbed.steps
        self._scored = self._score(climbed.directions, self._rows)
        self._climbed = replace(climbed, directions=self._scored.directions)
        self.leading = self._scored.ranked(_LEADING, _NEAR, climbed.met)
        self.n_stages += 1

    @property
    def convincing(self) -> bool:
        """Whether enough starts made for a leading direction that is clearly of several modes."""
        return self.leading is not None and bool(
            self.leading.clear[0] and self.leading.met[0] >= _MET
        )

    @property
    def _weighs_groups(self) -> bool:
        """Whether clear groups are wanted, wherever they are seen."""
        options = self.options
        chosen_for = options.weigh_modes and options.phi.polish == "groups"
        return chosen_for and isinstance(options.starts, str)

    @property
    def account(self) -> str:
        """Why the search ended where it is now, in words."""
        if self.leading is None or not self.convincing:
            return f"all {self.n_starts} starts climbed {self.n_steps} steps on all rows"
        return (
            f"{int(self.leading.met[0])} of {self.n_starts} starts on {self._rows.shape[0]} of "
            f"{self.X.shape[0]} rows made for one direction, clearly of several modes"
        )

    def finish(self) -> tuple[Ranked, np.ndarray]:
        """Polish, keep climbed and polished candidates both, and rank them on all rows.

        Returns
        -------
        The distinct ones, best first, and whether each stands still, (k,).
        """
        chosen = self._climbed.directions
        # Near the threshold a climb may end 50 degrees off the groups that polishing then finds.
        if self.convincing:
            chosen = self._scored.ranked(self.options.n_directions, SAME).directions
        elif self._weighs_groups:
            # Of groups of nearly one size an odd index has no slope, and climbs away from them.
            moments = moment_starts(self._rows, _MOMENTS)
            chosen = namespace(chosen).concat((chosen, moments))
        scored, moved, met = self._polished(chosen, self._rows, self._scored, self._climbed)
        ranked = scored.ranked(self.options.n_directions, self.options.minimum_angle, met)
        moved = moved[ranked.sources]
        if self._rows is not self.X:  # a few directions are left, and they are nearly there
            few = self._score(ranked.directions, self.X)
            climbed = Climbed(few.directions, moved, ranked.met, self.n_steps)
            scored, moved, met = self._polished(few.directions, self.X, few, climbed)
            ranked = scored.ranked(self.options.n_directions, self.options.minimum_angle, met)
            moved = moved[ranked.sources]
        return ranked, moved < SETTLED

    def _some_rows(self, size: int) -> Array:
        """Return `size` rows drawn without replacement, in their order; all are `X` itself."""
        if size == self.X.shape[0]:
            return self.X
        return take_rows(self.X, np.sort(random_rows(self.X.shape[0], size, self.rng)))

    def _climb(self, begin: Array, steps: int) -> Climbed:
        """Take long steps, merge what has met, then a quarter as many short ones, and merge.

        Where the products of the long steps are rounded, those of the short ones are in full.
        """
        phi, etas = self.options.phi, self.options.etas
        start = begin_at(begin)
        first = merge(ascend(phi, start, self._rows, etas[0], steps, rough=self._rough))
        return merge(ascend(phi, first, self._rows, etas[1], -(-steps // 4)))

    def _score(self, directions: Array, rows: Array) -> Scored:
        return score_directions(
            directions, rows, self.options.psi, weigh_modes=self.options.weigh_modes
        )

    def _polished(
        self, chosen: Array, rows: Array, scored: Scored, climbed: Climbed
    ) -> tuple[Scored, np.ndarray, np.ndarray]:
        """Polish `chosen` on rows and put what is worth it behind the candidates scored there.

        A fixed point may end in a direction that is far from normal in another sense than the
        index's: one below the middle of the climbed values is such, unless groups were looked for
        and it parts the rows by more than a search for modes does in noise.
        """
        polished = polish(self.options.phi.polish, chosen, rows)
        theirs = self._score(polished.directions, rows)
        worth = theirs.values >= np.median(scored.values)
        if self._weighs_groups:
            low = np.flatnonzero(theirs.clear & ~worth)
            worth[low] = self._part_the_rows(take_rows(theirs.directions, low), rows)
        worthy = np.flatnonzero(worth)
        moved = np.concatenate((climbed.moved, polished.moved[worthy]))
        met = np.concatenate((climbed.met, np.zeros(worthy.size, dtype=np.int64)))
        return scored + theirs.only(worthy), moved, met

    def _part_the_rows(self, directions: Array, rows: Array) -> np.ndarray:
        """Say which directions show modes beyond those that a search for modes finds in noise."""
        if directions.shape[0] == 0:
            return np.zeros(0, dtype=bool)
        psi = self.options.psi
        return score_directions(directions, rows, psi, weigh_modes=True, modes_sought=True).clear
