# ruff: noqa: PLR0917  (Triton calls kernels by position)
"""Kernels of the fused step, one program for some starts and some rows.

    T = U X_b^T  (starts, rows),      S = phi'(T),      G += S X_b  (starts, d).

Up to `MOST_FUSED` columns one program holds U and G, reads each row once, and S never leaves its
registers. Beyond, G does not fit: S is written once in the dtype of the rows (`slope_kernel`) and
multiplied by them (`pull_kernel`), each tile of columns by its own programs. Programs write their
sums apart and the caller adds them in order: atomic additions would change bits from run to run.
"""

from __future__ import annotations

import triton
import triton.language as tl

MOST_FUSED = 128
"""Columns up to which the sums of 128 starts stay in the registers of one program."""


@triton.jit
def fused_kernel(
    X, U, G, V, n, rows_each,
    VALUE: tl.constexpr, SLOPE: tl.constexpr, WITH_VALUES: tl.constexpr, WITH_PULLS: tl.constexpr,
    COLUMNS: tl.constexpr, STARTS: tl.constexpr, ROWS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Sum values (share, m) and pulls (share, m, d) of one share of the rows."""
    share, m = tl.program_id(1).to(tl.int64), tl.num_programs(0) * STARTS
    start = tl.program_id(0) * STARTS + tl.arange(0, STARTS)
    column, within = tl.arange(0, COLUMNS), tl.arange(0, ROWS)
    u = tl.load(U + start[:, None] * COLUMNS + column[None, :])
    g = tl.zeros((STARTS, COLUMNS), tl.float32)
    v = tl.zeros((STARTS,), tl.float32)
    first = share * rows_each
    last = tl.minimum(first + rows_each, n)
    for begin in range(first, last, ROWS):
        row = begin + within
        there = row < last
        x = tl.load(X + row[:, None] * COLUMNS + column[None, :], mask=there[:, None], other=0.0)
        t = tl.dot(u, tl.trans(x), input_precision=PRECISION)
        if WITH_VALUES:
            v += tl.sum(tl.where(there[None, :], VALUE(t), 0.0), axis=1)
        if WITH_PULLS:  # rows past the end are zero, whatever their slope
            g = tl.dot(SLOPE(t).to(x.dtype), x, g, input_precision=PRECISION)
    if WITH_VALUES:
        tl.store(V + share * m + start, v)
    if WITH_PULLS:
        tl.store(G + (share * m + start[:, None]) * COLUMNS + column[None, :], g)


@triton.jit
def slope_kernel(
    X, U, S, V, n, columns, stride,
    VALUE: tl.constexpr, SLOPE: tl.constexpr, WITH_VALUES: tl.constexpr, WITH_PULLS: tl.constexpr,
    COLUMNS: tl.constexpr, STARTS: tl.constexpr, ROWS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Write phi'(T) of one tile (starts, rows) into S (m, stride), and its sums of values."""
    tile, m = tl.program_id(1).to(tl.int64), tl.num_programs(0) * STARTS
    start = tl.program_id(0) * STARTS + tl.arange(0, STARTS)
    row = tile * ROWS + tl.arange(0, ROWS)
    there, within = row < n, tl.arange(0, COLUMNS)
    t = tl.zeros((STARTS, ROWS), tl.float32)
    for begin in range(0, columns, COLUMNS):
        column = begin + within
        u = tl.load(U + start[:, None] * columns + column[None, :])
        x = tl.load(X + row[:, None] * columns + column[None, :], mask=there[:, None], other=0.0)
        t = tl.dot(u, tl.trans(x), t, input_precision=PRECISION)
    if WITH_VALUES:
        tl.store(V + tile * m + start, tl.sum(tl.where(there[None, :], VALUE(t), 0.0), axis=1))
    if WITH_PULLS:
        place = start[:, None].to(tl.int64) * stride + row[None, :]
        tl.store(S + place, SLOPE(t).to(X.dtype.element_ty), mask=there[None, :])


@triton.jit
def pull_kernel(
    X, S, G, n, columns, stride, rows_each,
    COLUMNS: tl.constexpr, STARTS: tl.constexpr, ROWS: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """Sum S X over one share of the rows, for one tile (starts, columns)."""
    share, m = tl.program_id(2).to(tl.int64), tl.num_programs(0) * STARTS
    start = tl.program_id(0) * STARTS + tl.arange(0, STARTS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    within, inside = tl.arange(0, ROWS), column < columns
    g = tl.zeros((STARTS, COLUMNS), tl.float32)
    first = share * rows_each
    last = tl.minimum(first + rows_each, n)
    for begin in range(first, last, ROWS):
        row = begin + within
        there = row < last
        s = tl.load(
            S + start[:, None].to(tl.int64) * stride + row[None, :], mask=there[None, :], other=0.0
        )
        x = tl.load(
            X + row[:, None] * columns + column[None, :],
            mask=there[:, None] & inside[None, :],
            other=0.0,
        )
        g = tl.dot(s, x, g, input_precision=PRECISION)
    tl.store(G + (share * m + start[:, None]) * columns + column[None, :], g, mask=inside[None, :])
