"""One step on blocks of rows, by the fastest way that the arrays and the index allow.

Every kernel returns the sums of `plain`, which is written in the array API alone: to rounding, or
as rough as the caller lets products be where a step may be `rough`. Only `sums` and `drawn` call
them. No kernel asks what index it has: the index says what it can (`Index.write`, `Index.sums`,
`Index.formulas`).
"""

from __future__ import annotations

from sightline._arrays import Array, is_jax, is_lazy, is_numpy, rough_dtype
from sightline.indices import Index
from sightline.kernels.host import HostStep
from sightline.kernels.partial_sums import Partial
from sightline.kernels.plain import PlainStep
from sightline.kernels.step import Step

__all__ = ["Partial", "Step", "make_step"]


def make_step(
    psi: Index | None, phi: Index | None, directions: Array, X: Array, *, rough: bool = False
) -> Step:
    """Return the step in all `directions` (m, d), for blocks of the rows `X`.

    It sums the values of `psi` and the slopes of `phi` times the rows, from the same scores. A
    rough one may round its products: to float32 on the host, as far as the caller allows its
    library elsewhere.
    """
    if is_numpy(X) or is_lazy(X):
        return HostStep(psi, phi, directions, X.dtype, rough=rough)
    dtype = rough_dtype(X) if rough else None
    if dtype is not None and phi is not None and phi.formulas and psi in (None, phi):
        from sightline.kernels.fused import FusedStep  # noqa: PLC0415  (needs torch and triton)

        return FusedStep(psi, phi, directions, dtype)
    if is_jax(X):
        from sightline.kernels.jitted import JittedStep  # noqa: PLC0415  (needs JAX)

        return JittedStep(psi, phi, directions)
    return PlainStep(psi, phi, directions)
