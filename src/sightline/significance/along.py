"""Standard values of directions on rows of any number."""

from __future__ import annotations

import numpy as np

from sightline._arrays import Array, like, namespace, to_numpy, wide_dtype
from sightline.indices import Index
from sightline.indices.contract import with_feature_axis
from sightline.rows import fold_rows, map_rows, sum_rows
from sightline.scatter import scatter_of
from sightline.significance.direction_test import standard_values
from sightline.sums import all_scores


def standard_values_along(psi: Index, directions: Array, rows: Array) -> np.ndarray:
    """Return psi of the scores at mean 0 and variance 1, without holding them all."""
    if psi.whole_sample:
        return standard_values(psi, to_numpy(all_scores(directions, rows)))
    xp = namespace(directions)
    count = directions.shape[0]
    spread = scatter_of(map_rows(lambda some: some @ directions.T, rows, width=count))
    deviation = np.sqrt(np.diag(spread.covariance(np.zeros_like(spread.exponents))))
    centre = like(spread.mean, directions, wide_dtype(directions))
    scale = like(np.where(deviation > 0, deviation, 1.0), directions, wide_dtype(directions))

    def values(some: Array) -> Array:
        scores = (xp.astype(some @ directions.T, scale.dtype, copy=False) - centre) / scale
        return sum_rows(with_feature_axis(psi, psi.value(scores, xp), scores))

    total = fold_rows(values, rows, width=count) / rows.shape[0]
    return np.asarray(to_numpy(psi.combine(total, xp)), dtype=np.float64)
