"""Indices of the order of all the scores: they choose among directions but have no slope."""

from __future__ import annotations

import numpy as np
from diptest import dipstat

from sightline._arrays import Array, Namespace, like, to_numpy, wide_dtype
from sightline.indices.contract import Index


class Dip(Index):
    """Hartigan's dip: how far the scores are from any unimodal law; blind to heavy tails."""

    name = "dip"
    whole_sample = True
    even = True

    def value_of_sample(self, scores: Array, xp: Namespace) -> Array:  # noqa: ARG002
        """Return the dip of each column of `scores` (n, m)."""
        columns = np.sort(to_numpy(scores).astype(np.float64, copy=False), axis=0).T
        dips = [dipstat(np.ascontiguousarray(column), sort_x=False) for column in columns]
        return like(dips, scores, wide_dtype(scores))
