"""Rare clusters, split off one at a time along directions that were searched for.

A part of the rows is cut in two random halves. Directions are searched on one half, and along each
a mixture of two normals is fitted with a small part behind a valley. The other half, of which the
search knows nothing, holds the mixture against a single cluster (`separation`). The same is done
with the halves exchanged, and again for other halvings; the mean evidence of all that was looked
at decides. What passes is split off along the clearest direction, sharpened on all rows of the
part, and both sides are parts again, until nothing passes.

The other half knows nothing of the search only where no row lies in both. A row and its copies
are one observation, so rows have to be given once (`distinct_rows`): with five copies of each of
100 normal rows, either half is nearly the other, and noise passes every time.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import ceil, log2
from typing import Any

import numpy as np

from sightline.grouping import View, part_whitening, sharpen, view_along
from sightline.pooling import pool_directions
from sightline.separation import log_evidence
from sightline.sphere import normalise

Host = np.ndarray[Any, np.dtype[np.float64]]
Labels = np.ndarray[Any, np.dtype[np.int64]]

_DIRECTIONS = 40
"""Directions an index that are searched on a half."""

_APART = 25.0
"""Degrees between them: a cluster is seen from within a wide cone, and one look is enough."""

_TESTED = 10
"""Directions of a half that the other half tests; each more costs all others evidence."""

_HALVINGS = 3
"""Random halvings over which evidence is averaged: some cut a group of a dozen unevenly."""

_STARTS = 128
"""Starts of either kind: the rows farthest out, where a rare cluster is, and any rows."""

_STEPS = 6
"""Steps of a climb, times log2 of the columns: a group is seen well before the climb is over."""


@dataclass(frozen=True, slots=True)
class RowSplit:
    """Rows of a part with scores above a threshold, split off.

    Attributes
    ----------
    parent, label : the part that was split, and the new one's label.
    direction : (r,) unit weights on the rows' columns.
    threshold : rows with <x, direction> above it are split off.
    separation : distance of the means of both sides along the direction over their pooled
        standard deviation.
    p_value : of the test on rows that the search had not seen.
    """

    parent: int
    label: int
    direction: Host
    threshold: float
    separation: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Splitter:
    """What is searched for, and what is asked of a cluster.

    Attributes
    ----------
    index : an index or several.
    minimum_size : least rows of a cluster.
    significance : a split needs a p-value of at most this.
    rng : the source of randomness.
    """

    index: Any
    minimum_size: int
    significance: float
    rng: np.random.Generator

    def split(self, rows: Host) -> list[RowSplit]:
        """Split rare clusters off whitened `rows` (n, r) until none passes.

        Of two sides the larger keeps the label of the part; label 0 begins as all rows.
        """
        splits: list[RowSplit] = []
        waiting = deque([0])
        while waiting:
            parent = waiting.popleft()
            part = rows[follow_splits(rows, splits) == parent]
            split = self.split_part(part, parent, len(splits) + 1)
            if split is not None:
                splits.append(split)
                waiting.extend((parent, split.label))
        return splits

    def split_part(self, part: Host, parent: int, label: int) -> RowSplit | None:
        """Return the split of a part that its halves confirm, or None."""
        confirmed = self.confirmed(part) if len(part) >= 4 * self.minimum_size else None
        if confirmed is None:
            return None
        direction, p_value = confirmed
        view = view_along(part, direction, self.minimum_size)
        if view is None:
            return None
        view = sharpen(part, view, self.minimum_size, part_whitening(part))
        scores = part @ view.direction
        above = scores > view.threshold
        if not self.minimum_size <= np.count_nonzero(above) <= len(part) // 2:
            return None
        separation = _apart(scores[above], scores[~above])
        return RowSplit(parent, label, view.direction, view.threshold, separation, p_value)

    def confirmed(self, part: Host) -> tuple[Host, float] | None:
        """Return the direction of most evidence and the p-value of all, if that is small enough.

        The mean over all halvings exceeds the sum so far over their number, so that the first
        halvings may be enough; the p-value is then an upper bound.
        """
        total, most = -np.inf, -np.inf
        best = np.zeros(part.shape[1])
        for _ in range(_HALVINGS):
            for view, evidence, share in self.tested_on_halves(part):
                total = float(np.logaddexp(total, evidence + np.log(share / _HALVINGS)))
                if evidence > most:
                    best, most = view.direction, evidence
            p_value = float(np.exp(min(0.0, -total)))
            if p_value <= self.significance:
                return best, p_value
        return None

    def tested_on_halves(self, part: Host) -> list[tuple[View, float, float]]:
        """Return views found on either half, log evidence on the other, and shares in the mean."""
        order = self.rng.permutation(len(part))
        middle = len(part) // 2
        halves = part[order[:middle]], part[order[middle:]]
        tested = []
        for half, other in (halves, halves[::-1]):
            views = self.clearest(half)
            for view in views:
                evidence = log_evidence(view.mixture, view.standard(other))
                tested.append((view, evidence, 0.5 / len(views)))
        return tested

    def clearest(self, half: Host) -> list[View]:
        """Return the views of a half in which a group stands apart most clearly, sharpened."""
        if np.all(half == half[0]):
            return []
        whitening = part_whitening(half)
        found = pool_directions(
            half,
            whitening,
            self.index,
            n_components=_DIRECTIONS,
            minimum_angle=_APART,
            starts=self.starts(whitening.apply(half)),
            n_steps=_STEPS * max(1, ceil(log2(whitening.rank))),
            random_state=self.rng,
        )
        least = -(-self.minimum_size // 2)
        views = [view_along(half, u, least) for u in whitening.column_weights(found)]
        clear = [view for view in views if view is not None]
        clear.sort(key=lambda view: -log_evidence(view.mixture, view.standard(half)))
        return [sharpen(half, view, least, whitening) for view in clear[:_TESTED]]

    def starts(self, whitened: Host) -> Host:
        """Return the rows farthest out, and as many of the others at random, as starts."""
        lengths = np.sum(whitened**2, axis=1)
        order = np.argsort(-lengths, kind="stable")[: np.count_nonzero(lengths)]
        others = self.rng.permutation(order[_STARTS:])[:_STARTS]
        directions: Host = normalise(whitened[np.concatenate((order[:_STARTS], others))])
        return directions


def distinct_rows(rows: Host) -> Labels:
    """Return the positions of the rows of a table (n, d) that are no copies of earlier ones."""
    width = rows.shape[1] * rows.itemsize
    packed = np.ascontiguousarray(rows + 0.0).view(f"V{width}")[:, 0]  # + 0.0: -0.0 equals 0.0
    _, first = np.unique(packed, return_index=True)
    return np.sort(first).astype(np.int64)


def follow_splits(rows: Host, splits: list[RowSplit]) -> Labels:
    """Return the labels (n,) of whitened rows (n, r), split after split."""
    labels = np.zeros(rows.shape[0], dtype=np.int64)
    for split in splits:
        labels[(labels == split.parent) & (rows @ split.direction > split.threshold)] = split.label
    return labels


def _apart(upper: Host, lower: Host) -> float:
    """Return the distance of the means of two sides over their pooled standard deviation."""
    within = (upper.size * upper.var() + lower.size * lower.var()) / (upper.size + lower.size)
    return float((upper.mean() - lower.mean()) / np.sqrt(within)) if within > 0 else np.inf
