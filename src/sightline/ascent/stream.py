"""Algorithm 2 on a stream: each batch is one step, and no row is asked for again."""

from __future__ import annotations

from typing import Any

import numpy as np

from sightline._arrays import Array, like, namespace, to_numpy
from sightline.ascent.one_run import finite_values
from sightline.ascent.steps import check_step_sizes, default_steps
from sightline.indices import Index
from sightline.sphere import normalise, tangent
from sightline.sums import index_gradients, index_values


class StreamAscent:
    """Starts that climb one step a batch, with a long step size and then a short one.

    As in Algorithm 2, run 1 takes s steps of eta_1 from the starts, and run 2 steps of eta_2 from
    the best iterates of run 1, each on rows that no other step sees. What a stream can't do is
    compare iterates on the rows of all batches: psi compares them on rows that are `held`. Run 2
    ends with the stream, be that before or after s steps.

    Parameters
    ----------
    directions : (m, d) starts, unit rows.
    held : (h, d) rows on which iterates are compared.
    phi, psi : the index to climb, and the one that chooses.
    n_steps : s; None is 2 log2 d.
    step_sizes : (eta_1, eta_2); None is the index's own.
    """

    def __init__(
        self,
        directions: Array,
        held: Array,
        phi: Index,
        psi: Index,
        *,
        n_steps: int | None = None,
        step_sizes: Any = None,
    ) -> None:
        self.held, self._phi, self._psi = held, phi, psi
        self.n_steps = default_steps(held.shape[1]) if n_steps is None else n_steps
        self.step_sizes = check_step_sizes(phi.step_sizes if step_sizes is None else step_sizes)
        self.steps_done = 0
        self.best = self._iterate = directions
        self._best_value = np.full(directions.shape[0], -np.inf)

    @property
    def step_size(self) -> float:
        """The step size of the next step."""
        return self.step_sizes[0 if self.steps_done < self.n_steps else 1]

    def step(self, batch: Array) -> None:
        """Climb on a batch of rows (b, d)."""
        if self.steps_done == self.n_steps:
            self._iterate = self.best
            self._best_value = np.full_like(self._best_value, -np.inf)
        u, xp = self._iterate, namespace(batch)
        ahead = normalise(u + self.step_size * tangent(u, index_gradients(self._phi, u, batch)))
        self.steps_done += 1
        value = to_numpy(index_values(self._psi, ahead, self.held))
        value = finite_values(value, self.steps_done)
        better = value > self._best_value
        self.best = xp.where(like(better, u, xp.bool)[:, None], ahead, self.best)
        self._best_value = np.where(better, value, self._best_value)
        self._iterate = ahead
