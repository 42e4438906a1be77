"""The axes of a page: its directions, and principal components where they are fewer than three.

A tour needs three axes to turn in, and a scatter two. Beside one or two directions the principal
components of the table also show what it looks like without pursuit; a table of one or two
columns has no more axes than columns.

For the tour the axes' standardised codes S (m, k) become coordinates Y = S W of covariance I in
their span (r dimensions), in which axis j is the unit vector b_j, the j-th row of B: S = Y B^T.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from sightline._arrays import Array, take_rows, to_numpy
from sightline.report.facts import Direction
from sightline.report.packing import PackedScores, pack_scores
from sightline.report.sample import Drawn
from sightline.scatter import Scatter
from sightline.split import Split
from sightline.views import view_range
from sightline.views.bins import Floats

_FEWEST = 3

_MOST_IN_TOUR = 10
"""Axes of a tour: with more, a random view shows little of each."""

_FLAT = 1e-3
"""Least variance of a dimension of the tour, the axes having 1 each."""


@dataclass(frozen=True, slots=True)
class Axis:
    """Something that rows have a score along: its name, a short one, and the packed scores.

    Directions have a split where their scores differ, principal components have none.
    """

    name: str
    short: str
    packed: PackedScores
    split: Split | None


@dataclass(frozen=True, slots=True)
class Tour:
    """The space that a tour turns in: centres and scales of the codes (k,), W and B (k, r)."""

    centres: Floats
    scales: Floats
    to_span: Floats
    axes: Floats


def make_axes(
    directions: Sequence[Direction], rows: Array, scatter: Scatter, drawn: Drawn
) -> list[Axis]:
    """Return the axes with the packed scores of the rows that are drawn."""
    axes = [_direction_axis(direction, drawn) for direction in directions]
    missing = min(_FEWEST, scatter.mean.size) - len(axes)
    if missing > 0:
        table = to_numpy(take_rows(rows, drawn.rows)).astype(np.float64)
        for place, scores in enumerate(_principal_scores(table, scatter, missing).T, start=1):
            packed = pack_scores(scores, view_range(scores), None)
            name = f"Principal component {place}"
            axes.append(Axis(name, f"PC{place}", packed, None))
    return axes


def _direction_axis(direction: Direction, drawn: Drawn) -> Axis:
    split = direction.split if direction.split.size else None
    threshold = None if split is None else split.threshold
    packed = pack_scores(direction.scores[drawn.rows], direction.span, threshold)
    return Axis(direction.name, str(direction.number), packed, split)


def make_tour(axes: Sequence[Axis]) -> Tour | None:
    """Return the space that the axes span, or None where it has fewer than two dimensions."""
    shown = axes[:_MOST_IN_TOUR]
    codes = np.stack([axis.packed.codes for axis in shown], axis=1).astype(np.float64)
    centres, scales = codes.mean(axis=0), codes.std(axis=0)
    scales = np.where(scales > 0, scales, 1.0)
    standard = (codes - centres) / scales
    variances, vectors = linalg.eigh(standard.T @ standard / len(standard))
    kept = variances > _FLAT
    if np.count_nonzero(kept) < 2:
        return None
    roots = np.sqrt(variances[kept])
    long = vectors[:, kept] * roots
    lengths = np.linalg.norm(long, axis=1, keepdims=True)
    unit = long / np.where(lengths > 0, lengths, 1.0)
    return Tour(centres, scales, vectors[:, kept] / roots, unit)


def _principal_scores(table: Floats, scatter: Scatter, count: int) -> Floats:
    """Return scores (m, c) of rows along the leading components of standardised columns."""
    covariance = scatter.covariance(scatter.exponents)
    spread = np.sqrt(np.diag(covariance))
    varying = np.flatnonzero(spread > 0)
    correlation = (
        covariance[np.ix_(varying, varying)] / np.outer(spread, spread)[np.ix_(varying, varying)]
    )
    count = min(count, varying.size)
    ends = [varying.size - count, varying.size - 1]
    vectors = linalg.eigh(correlation, subset_by_index=ends)[1][:, ::-1]
    exponents = scatter.exponents[varying]
    scaled = np.ldexp(table[:, varying], -exponents) - np.ldexp(scatter.mean[varying], -exponents)
    scores: Floats = (scaled / spread[varying]) @ vectors
    return scores
