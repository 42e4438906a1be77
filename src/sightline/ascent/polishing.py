"""Polishing: a few fixed-point steps that bring a climbed direction to statistical precision.

An index points into the right basin; its own maximum there is blurred by the noise of the rows
inside the groups. Two fixed points are sharper, both O(n d) a direction and step:

- sparse: u <- normalise(mean[x g(t)] - mean[g'(t)] u) with g(t) = t exp(-t^2 / 2), the robust
  one-unit step of FastICA (Hyvarinen 1999, IEEE Trans. Neural Networks 10, 626-634);
- groups: u <- normalise(mean[r(t) x]) with r(t) the probability that a score t belongs to the
  upper of two normal groups of one variance, fitted to the scores: for whitened rows the
  discriminant direction of the groups as they stand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sightline._arrays import Array, like, namespace, take_rows, to_numpy, wide_dtype
from sightline._threads import ordered_map, thread_count
from sightline.rows import fold_rows, row_blocks, spaced_rows, sum_rows
from sightline.sphere import normalise
from sightline.sums import all_scores

STEPS = 20
"""Fixed-point steps; both fixed points settle in five to fifteen."""

SETTLED = 1e-3
"""A direction that moves by less than this many radians in a step has arrived."""

_AT_ONCE = 512
"""Directions whose groups are fitted at once: it bounds the memory."""

_FIT_ROWS = 4000
"""Rows on which the two groups are fitted; their three numbers need no more."""

_FIT_AT_ONCE = 64
"""Directions whose scores there stay in a core's cache."""

_LEAST_VARIANCE = 1e-3
"""Floor of the variance inside a group, so that two-point scores have a posterior too."""


@dataclass(frozen=True, slots=True)
class Polished:
    """Directions (m, d) after the last step, and how far each moved in it, (m,) on the host."""

    directions: Array
    moved: np.ndarray


Step = Callable[[Array, np.ndarray], Array]
"""Takes directions (m, d) and their positions (m,) among all that are polished, one step on."""


def polish(kind: str, directions: Array, X: Array, steps: int = STEPS) -> Polished:
    """Run the fixed point of one kind, "sparse" or "groups", until nothing moves.

    Those that have arrived are left where they are.
    """
    some = [directions[block, :] for block in row_blocks(directions.shape[0], _AT_ONCE)]
    done = [_polish_some(kind, these, X, steps) for these in some]
    return Polished(
        namespace(directions).concat([each.directions for each in done]),
        np.concatenate([each.moved for each in done]),
    )


def _polish_some(kind: str, directions: Array, X: Array, steps: int) -> Polished:
    step = POLISHES[kind](directions, X)
    moved = np.full(directions.shape[0], np.inf)
    going = np.arange(moved.size)
    for _ in range(steps):
        behind = take_rows(directions, going) if going.size < moved.size else directions
        ahead = _facing(step(behind, going), behind)
        moved[going] = _distance(ahead, behind)
        directions = with_rows(directions, going, ahead)
        going = going[moved[going] >= SETTLED]
        if not going.size:
            break
    return Polished(directions, moved)


def with_rows(directions: Array, positions: np.ndarray, values: Array) -> Array:
    """Return `directions` with the rows at some positions replaced."""
    if positions.size == directions.shape[0]:
        return values
    xp = namespace(directions)
    place = np.arange(directions.shape[0])
    place[positions] = directions.shape[0] + np.arange(positions.size)
    return take_rows(xp.concat((directions, values)), place)


def _facing(ahead: Array, directions: Array) -> Array:
    """Turn each direction to the side that it came from: a fixed point is a line."""
    xp = namespace(ahead)
    inner = xp.sum(ahead * directions, axis=1)
    return xp.where((inner < 0)[:, None], -ahead, ahead)


def _distance(ahead: Array, directions: Array) -> np.ndarray:
    xp = namespace(ahead)
    return to_numpy(xp.sqrt(xp.sum((ahead - directions) ** 2, axis=1)))


def _sparse_step(directions: Array, X: Array) -> Step:  # noqa: ARG001
    """Return FastICA's step with g(t) = t exp(-t^2 / 2)."""
    xp = namespace(X)

    def step(u: Array, which: np.ndarray) -> Array:  # noqa: ARG001  (nothing is carried)
        def part(rows: Array) -> Array:
            t = rows @ u.T
            square = t * t
            bell = xp.exp(-0.5 * square)
            curvature = sum_rows((1 - square) * bell)
            t *= bell
            pull = xp.astype(t.T @ rows, wide_dtype(rows))
            return xp.concat((pull, curvature[:, None]), axis=1)

        total = fold_rows(part, X, width=u.shape[0]) / X.shape[0]
        pull, curvature = total[:, :-1], total[:, -1:]
        return normalise(xp.astype(pull - curvature * xp.astype(u, pull.dtype), X.dtype))

    return step


def _groups_step(directions: Array, X: Array) -> Step:
    """Return the discriminant step for two groups, whose fit is carried from step to step."""
    xp = namespace(X)
    some = spaced_rows(X, _FIT_ROWS)
    groups = TwoGroups.at_the_upper_end(to_numpy(all_scores(directions, some)))

    def step(u: Array, which: np.ndarray) -> Array:
        theirs = groups.only(which).refit(to_numpy(all_scores(u, some)))
        groups.replace(which, theirs)
        slope, offset = (like(value, X) for value in theirs.log_odds())

        def part(rows: Array) -> Array:
            odds = rows @ u.T
            odds *= slope
            odds += offset
            probability = 0.5 * xp.tanh(0.5 * odds)  # less a half, which centred rows don't feel
            return xp.astype(probability.T @ rows, wide_dtype(rows))

        return normalise(xp.astype(fold_rows(part, X, width=u.shape[0]), X.dtype))

    return step


POLISHES: dict[str, Callable[[Array, Array], Step]] = {
    "sparse": _sparse_step,
    "groups": _groups_step,
}


@dataclass(frozen=True, slots=True)
class TwoGroups:
    """Two normal groups of one variance in the scores of each direction; all arrays (m,)."""

    share: np.ndarray
    upper: np.ndarray
    lower: np.ndarray
    variance: np.ndarray

    @classmethod
    def at_the_upper_end(cls, scores: np.ndarray) -> TwoGroups:
        """Begin with the upper twentieth of the scores (n, m), and the rest about zero."""
        top = min(scores.shape[0], max(4, scores.shape[0] // 20))
        upper = np.partition(scores, -top, axis=0)[-top:].mean(axis=0, dtype=np.float64)
        half = np.full_like(upper, 0.5)
        start = cls(half / 5, upper, -0.1 * upper, half)
        return start.refit(scores, steps=10)

    def only(self, which: np.ndarray | slice) -> TwoGroups:
        """Return the groups of some of the directions."""
        return TwoGroups(*(getattr(self, part)[which] for part in self.__slots__))

    def replace(self, which: np.ndarray, theirs: TwoGroups) -> None:
        """Put the groups of some of the directions in place of what was there."""
        for part in self.__slots__:
            getattr(self, part)[which] = getattr(theirs, part)

    def log_odds(self) -> tuple[np.ndarray, np.ndarray]:
        """Return slope and offset of the log odds of the upper group, linear in the score."""
        slope = (self.upper - self.lower) / self.variance
        prior = np.log(self.share) - np.log1p(-self.share)
        return slope, prior - 0.5 * slope * (self.upper + self.lower)

    def refit(self, scores: np.ndarray, steps: int = 4) -> TwoGroups:
        """Take `steps` expectation-maximisation steps on the scores (n, m)."""

        def of_some(block: slice) -> TwoGroups:
            theirs = np.ascontiguousarray(scores[:, block].T, dtype=np.float32)
            return self.only(block)._refit(theirs, steps)

        blocks = row_blocks(scores.shape[1], _FIT_AT_ONCE)
        parts = list(ordered_map(of_some, blocks, threads=thread_count()))
        whole = (
            np.concatenate([getattr(each, part) for each in parts]) for part in self.__slots__
        )
        return TwoGroups(*whole)

    def _refit(self, scores: np.ndarray, steps: int) -> TwoGroups:
        """Take the steps on scores (m, n) that stay in cache, in float32: n is a few thousand."""
        rows = scores.shape[1]
        mean = scores.mean(axis=1, dtype=np.float64)
        square = _inner(scores, scores) / rows
        groups, odds = self, np.empty_like(scores)
        least = min(2 / rows, 0.5)  # of three rows or fewer, no group has two and leaves two
        for _ in range(steps):
            slope, offset = (0.5 * part.astype(np.float32)[:, None] for part in groups.log_odds())
            np.multiply(scores, slope, out=odds)
            odds += offset
            member = np.tanh(odds, out=odds)  # twice the probability, less one
            share = 0.5 + 0.5 * member.mean(axis=1, dtype=np.float64)
            share = np.clip(share, least, 1 - least)
            upper = 0.5 * (mean + _inner(member, scores) / rows) / share
            lower = (mean - share * upper) / (1 - share)
            inside = square - share * upper**2 - (1 - share) * lower**2
            groups = TwoGroups(share, upper, lower, np.maximum(inside, _LEAST_VARIANCE))
        return groups


def _inner(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the inner products of the rows of two tables (m, n)."""
    inner: np.ndarray = np.einsum("mn,mn->m", first, second).astype(np.float64)
    return inner
