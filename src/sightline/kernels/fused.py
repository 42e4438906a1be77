"""The step on an accelerator with torch and Triton: one pass over rows of tf32 or bf16.

Products of float32 rounded to tf32 or bf16 are several times faster than in full. They are good
enough to climb by and not to be reported: only steps that may be rough come here, and the last
steps of a climb and all values that are returned are computed in full (`sightline.sums`).
"""

from __future__ import annotations

import weakref
from typing import Any

import torch
import triton

from sightline._arrays import Array
from sightline.indices import Index
from sightline.kernels.partial_sums import Partial
from sightline.kernels.step import Step
from sightline.kernels.triton_functions import triton_function
from sightline.kernels.triton_kernels import (
    MOST_FUSED,
    fused_kernel,
    pull_kernel,
    slope_kernel,
)

_STARTS = 128
"""Starts of a program. Compiled for Hopper, nothing that the kernels keep leaves the registers."""

_MOST_SHARES = 128
"""Shares of the rows, whose sums are written apart: more would be traffic, fewer idle programs."""

_LEAST_ROWS = 512
"""Rows of a share at the least."""

_SLOPE_BYTES = 2**25
"""Slopes that are held at once past `MOST_FUSED` columns: they stay in the second-level cache."""


class FusedStep(Step):
    """One step in all `directions` (m, d) on blocks of the rows that `table` has prepared."""

    block = 2**22

    def __init__(
        self, psi: Index | None, phi: Index | None, directions: Array, dtype: torch.dtype
    ) -> None:
        self.psi, self.phi, self.dtype = psi, phi, dtype
        self.narrow = dtype.itemsize < 4
        m, self.d = directions.shape
        self.m, self.columns = m, padded_columns(self.d)
        self.u = directions.new_zeros((triton.cdiv(m, _STARTS) * _STARTS, self.columns))
        self.u[:m, : self.d] = directions
        self.u = self.u.to(dtype)

    def table(self, X: Array) -> Array:
        """Return the rows as the kernels read them: in the narrow dtype, padded, in order."""
        return _narrow.of(X, self.dtype, self.columns)

    def __call__(self, rows: Array) -> Partial:
        """Return the sums over some rows of `table`; a second feature is a second pass."""
        features = (self.phi or self.psi).formulas  # type: ignore[union-attr]  # one is asked for
        asked = {"WITH_VALUES": self.psi is not None, "WITH_PULLS": self.phi is not None}
        values, pulls = [], []
        for value, slope in features:
            named = {"VALUE": triton_function(value), "SLOPE": triton_function(slope)}
            some = self._fused if self.columns <= MOST_FUSED else self._in_two
            v, g = some(rows, {**named, **asked, "PRECISION": "tf32"})
            values.append(v)
            pulls.append(g)
        return Partial(
            rows.shape[0],
            torch.stack(values)[:, : self.m] if asked["WITH_VALUES"] else None,
            torch.stack(pulls)[:, : self.m, : self.d].mT if asked["WITH_PULLS"] else None,
        )

    def _fused(self, rows: Array, options: dict[str, Any]) -> tuple[Array, Array]:
        n, tiles = rows.shape[0], self.u.shape[0] // _STARTS
        each, shares = _shares(n)
        v, g = self._sums(shares, shares, options)
        fused_kernel[(tiles, shares)](
            rows, self.u, g, v, n, each, COLUMNS=self.columns, STARTS=_STARTS, ROWS=64,
            num_warps=4 if self.narrow else 8, num_stages=3, **options,
        )  # fmt: skip
        return v.sum(0, dtype=torch.float64), g.sum(0, dtype=torch.float64)

    def _in_two(self, rows: Array, options: dict[str, Any]) -> tuple[Array, Array]:
        values, pulls = [], []
        at_once = _SLOPE_BYTES // (self.u.shape[0] * self.dtype.itemsize)
        for block in rows.split(max(4096, at_once // 128 * 128)):
            v, g = self._in_two_block(block, options)
            values.append(v)
            pulls.append(g)
        return torch.stack(values).sum(0), torch.stack(pulls).sum(0)

    def _in_two_block(self, rows: Array, options: dict[str, Any]) -> tuple[Array, Array]:
        (n, columns), m = rows.shape, self.u.shape[0]
        row_tiles, width = triton.cdiv(n, 128), triton.cdiv(n, 128) * 128
        each, shares = _shares(n, most=8)
        v, g = self._sums(row_tiles, shares, options)
        slopes = self.u.new_empty((m, width if options["WITH_PULLS"] else 1))
        slope_kernel[(m // _STARTS, row_tiles)](
            rows, self.u, slopes, v, n, columns, width, COLUMNS=64 if self.narrow else 32,
            STARTS=_STARTS, ROWS=128, num_warps=8, num_stages=3, **options,
        )  # fmt: skip
        if options["WITH_PULLS"] and not self.narrow:  # torch's own product, by the same setting
            g = torch.matmul(slopes[:, :n], rows)[None]
        elif options["WITH_PULLS"]:  # torch's would round the sums to bf16 too
            pull_kernel[(m // _STARTS, triton.cdiv(columns, 128), shares)](
                rows, slopes, g, n, columns, width, each,
                COLUMNS=128, STARTS=_STARTS, ROWS=64, num_warps=8, num_stages=3,
                PRECISION=options["PRECISION"],
            )  # fmt: skip
        return v.sum(0, dtype=torch.float64), g.sum(0, dtype=torch.float64)

    def _sums(self, values: int, pulls: int, options: dict[str, Any]) -> tuple[Array, Array]:
        """Return memory for the sums of each share; a part that is not asked for is a stub."""
        m, columns = self.u.shape
        v = (values, m) if options["WITH_VALUES"] else (1, 1)
        g = (pulls, m, columns) if options["WITH_PULLS"] else (1, 1, 1)
        kind = {"dtype": torch.float32, "device": self.u.device}
        return torch.empty(v, **kind), torch.empty(g, **kind)


def padded_columns(d: int) -> int:
    """Return the columns that a row is padded to: a power of two, or a multiple of 64."""
    return max(16, 1 << (d - 1).bit_length()) if d <= MOST_FUSED else -(-d // 64) * 64


def _shares(n: int, most: int = _MOST_SHARES) -> tuple[int, int]:
    """Return rows of a share and how many shares there are, by the number of rows alone."""
    each = triton.cdiv(max(_LEAST_ROWS, triton.cdiv(n, most)), 64) * 64
    return each, triton.cdiv(n, each)


class _Narrow:
    """The last rows that were prepared, and what they became: every step of a climb asks again."""

    def __init__(self) -> None:
        self._of: Any = lambda: None
        self._version = -1
        self._table: Array = None

    def of(self, X: Array, dtype: torch.dtype, columns: int) -> Array:
        """Return the rows in a dtype, padded to some columns."""
        if X.dtype == dtype and X.shape[1] == columns and X.is_contiguous():
            return X
        table = self._table
        same = self._of() is X and self._version == X._version
        if same and table.dtype == dtype and table.shape[1] == columns:
            return table
        table = X.new_zeros((X.shape[0], columns), dtype=dtype)
        table[:, : X.shape[1]] = X
        self._of, self._version, self._table = weakref.ref(X, self._forget), X._version, table
        return table

    def _forget(self, reference: Any) -> None:
        """Let the table go with the rows that it was made of."""
        if reference is self._of:
            self._table = None


_narrow = _Narrow()
