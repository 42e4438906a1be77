"""What a step is: rows in, sums over them out."""

from __future__ import annotations

from sightline._arrays import Array
from sightline.kernels.partial_sums import Partial


class Step:
    """One step in some directions: the values of one index and the slopes of another, summed.

    Attributes
    ----------
    block : rows that it takes at once; None is the device's own number.
    """

    block: int | None = None

    def table(self, X: Array) -> Array:
        """Return the rows `X` as the step reads them, to be cut into blocks."""
        return X

    def __call__(self, rows: Array) -> Partial:
        """Return the sums over a block of the table."""
        raise NotImplementedError
