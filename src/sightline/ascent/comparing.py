"""Psi of many iterates on the same rows: on rows that are not in memory, all from one reading.

No step waits for psi where each climbs on a batch of its own, so the iterates of a run can be
compared when it is over. On lazy rows that is one pass in place of one a step. Each iterate keeps
sums of its own, added in the same tree, so the bits are those of comparing it alone.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sightline._arrays import Array, is_lazy, namespace, to_numpy
from sightline.indices import Index
from sightline.kernels import Step, make_step
from sightline.rows import fold_rows
from sightline.sums import index_values

MOST_HELD = 2**23
"""Numbers in the iterates that wait to be compared; when there are more, they are compared."""


def values_of_iterates(psi: Index, iterates: Sequence[Array], rows: Array) -> list[np.ndarray]:
    """Return psi on all `rows` of every direction of every iterate (m, d), on the host."""
    if psi.whole_sample or not is_lazy(rows) or len(iterates) == 1:
        return [to_numpy(index_values(psi, u, rows)) for u in iterates]
    steps = [make_step(psi, None, u, rows) for u in iterates]
    width = sum(u.shape[0] for u in iterates)
    total = fold_rows(_Values(steps), rows, width=width)
    return [to_numpy(psi.combine(sums / rows.shape[0], namespace(rows))) for sums in total]


class _Values:
    """The sums of psi that several steps make of the same block of rows, (steps, f, m)."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self.steps = steps

    def __call__(self, rows: Array) -> np.ndarray:
        return np.stack([to_numpy(step(rows).values) for step in self.steps])
