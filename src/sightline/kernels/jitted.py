"""The plain step compiled by JAX: one kernel for the map, and no array between its operations."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import jax

from sightline._arrays import Array
from sightline.indices import Index
from sightline.kernels.partial_sums import Partial
from sightline.kernels.plain import block_sums
from sightline.kernels.step import Step


@cache
def _compiled(psi: Index | None, phi: Index | None) -> Any:
    return jax.jit(partial(block_sums, psi, phi))


class JittedStep(Step):
    """The step in some directions (m, d), compiled once for an index and a shape of blocks."""

    def __init__(self, psi: Index | None, phi: Index | None, directions: Array) -> None:
        self.directions = directions
        self.as_it_is = partial(block_sums, psi, phi)
        try:
            self.compute = _compiled(psi, phi)
        except TypeError:  # a user's index that can't be looked up
            self.compute = self.as_it_is

    def __call__(self, rows: Array) -> Partial:
        """Return the sums over one block of rows (b, d)."""
        try:
            sums = self.compute(self.directions, rows)
        except jax.errors.JAXTypeError:  # a user's index that looks at the numbers themselves
            self.compute = self.as_it_is
            sums = self.compute(self.directions, rows)
        return Partial(rows.shape[0], *sums)
