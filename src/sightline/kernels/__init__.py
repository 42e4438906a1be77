"""One step on a block of rows, by the fastest way that the arrays and the index allow.

Every kernel returns the same sums, to rounding, as `plain`, which is written in the array API
alone; `sums` is the only module that calls them. No kernel asks what index it has: the index says
what it can (`Index.write`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sightline._arrays import Array, is_lazy, is_numpy
from sightline.indices import Index
from sightline.kernels.host import HostStep
from sightline.kernels.partial_sums import Partial
from sightline.kernels.plain import plain_step

__all__ = ["Partial", "Step", "make_step"]

Step = Callable[[Array], Partial]
"""Maps rows (b, d) to sums over them."""


def make_step(psi: Index | None, phi: Index | None, directions: Array, X: Array) -> Step:
    """Return the step in all `directions` (m, d), for blocks of the rows `X`.

    It sums the values of `psi` and the slopes of `phi` times the rows, from the same scores.
    """
    if is_numpy(X) or is_lazy(X):
        return HostStep(psi, phi, directions, X.dtype)
    return partial(plain_step, psi, phi, directions)
