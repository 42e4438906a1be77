"""Views of a small group: a direction, the mixture along it, and turns that sharpen it.

The pursuit finds a direction by an index; the rows beyond the threshold along it are a group. In
rows of covariance I, Fisher's discriminant of a group and the others is the difference of their
means: turning there and cutting again, a few times, is what a climb would not do.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from sightline.covmcd.two_normals import TwoNormals
from sightline.separation import fit_mixture, threshold_of
from sightline.sphere import normalise
from sightline.whitening import Whitening, fit_whitening

Host = np.ndarray[Any, np.dtype[np.float64]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]

_ROWS_AN_AXIS = 5
"""Rows an axis from which the covariance of a part is taken as it is, and not shrunk."""

_TURNS = 8
"""Turns towards Fisher's discriminant; the sides of a clear group stay after two or three."""


@dataclass(frozen=True, slots=True)
class View:
    """A direction (r,) over rows, and the mixture of its scores less `centre`, over `spread`."""

    direction: Host
    centre: float
    spread: float
    mixture: TwoNormals

    def standard(self, rows: Host) -> Host:
        """Return the scores (n,) of rows in the units of the mixture."""
        scores: Host = (rows @ self.direction - self.centre) / self.spread
        return scores

    @property
    def threshold(self) -> float:
        """The score of least density between both parts; rows above it are the small part."""
        return self.centre + self.spread * threshold_of(self.mixture)

    @property
    def group_mean(self) -> float:
        """The mean score of the small part."""
        return self.centre + self.spread * float(self.mixture.means[1, 0])


def view_along(rows: Host, direction: Host, minimum_size: int) -> View | None:
    """Fit a mixture to the scores of rows along a direction; None where no group stands apart."""
    scores = rows @ direction
    centre, spread = float(scores.mean()), float(scores.std())
    if spread == 0.0:
        return None
    mixture = fit_mixture((scores - centre) / spread, minimum_size)
    return None if mixture is None else View(direction, centre, spread, mixture)


def sharpen(rows: Host, view: View, minimum_size: int, whitening: Whitening) -> View:
    """Turn a view to Fisher's discriminant of its two sides, repeatedly, and return the likeliest.

    The group is taken once as all rows beyond the threshold, and once as its core, those beyond
    its mean: a few stragglers between both sides would hold the first turns back.

    Parameters
    ----------
    rows : (n, r) rows.
    view : of these rows; it is returned itself if no turn is likelier.
    minimum_size : least rows of the group.
    whitening : fitted on the rows.
    """
    whitened = whitening.apply(rows)

    def turns(group: Mask) -> Iterator[View]:
        for _ in range(_TURNS):
            if group.all() or not group.any():
                return
            towards = whitened[group].mean(axis=0) - whitened[~group].mean(axis=0)
            weights = whitening.column_weights(normalise(towards[None]))[0]
            turned = view_along(rows, weights, minimum_size)
            if turned is None:
                return
            yield turned
            before, group = group, rows @ turned.direction > turned.threshold
            if np.array_equal(before, group):
                return

    scores = rows @ view.direction
    views = [view, *turns(scores > view.threshold), *turns(scores > view.group_mean)]
    return max(views, key=lambda one: float(one.mixture.log_likelihood(one.standard(rows))[0]))


def part_whitening(part: Host) -> Whitening:
    """Return the whitening of a part: exact where it has rows enough, else shrunk."""
    n_rows, n_columns = part.shape
    rank = n_columns
    if n_rows < _ROWS_AN_AXIS * n_columns:
        rank = int(np.linalg.matrix_rank(part - part.mean(axis=0)))
    with warnings.catch_warnings():  # a column that is constant in a part is no news
        warnings.filterwarnings("ignore", "[0-9]+ constant column", UserWarning)
        return fit_whitening(part, "exact" if n_rows >= _ROWS_AN_AXIS * rank else "shrunk")
