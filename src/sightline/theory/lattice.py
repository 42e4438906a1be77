"""Lattice recovery of a planted direction along which the rows take few values, without noise.

The rows X (n, d) of such data satisfy X u* = nu with nu = alpha b + beta 1 and whole numbers b, as
b in {0, 1}^n for two clusters. For W (n, k) orthonormal and orthogonal to the columns of X (and,
where beta is free, to what W then leaves of 1) this says W^T b = 0: b is a short vector in the
lattice of the rows of

    [ I_n   round(2^B W) ],

and LLL reduction finds it where no polynomial of low degree sees anything (Zadik, Song, Wein and
Bruna 2022), from n = d + 2 rows on, as long as the k B bits of the equations outweigh those of b
and what LLL loses. Noise of any kind, as in the paper's hierarchical clusters, leaves no such b.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from sightline._arrays import as_table, to_numpy
from sightline._options import check_flag
from sightline.sphere import normalise

_BITS = 49
"""B: the digits that rounding of float64 rows leaves to an equation between a few hundred."""

_MOST_ROWS = 250
"""Beyond this LLL takes hours; with float64 rows there is nothing more for it to find."""

_EVIDENCE = 20.0
"""Bits by which a relation must beat chance: one table in a million that has none passes."""

_DEPENDENT = 1e-10
"""A column that the others leave less than this of, relative to the largest, is dependent."""

_ROUNDING = 2.0**-52

_S = np.geomspace(1e-8, 10, 200)
_LOG_THETA = np.where(  # sum_m exp(-s m^2), by Poisson's formula where s is small
    _S < 1,
    np.log(np.sqrt(np.pi / _S) * (1 + 2 * np.exp(-(np.pi**2) / _S))),
    np.log1p(2 * np.exp(-_S) + 2 * np.exp(-4 * _S)),
)


@dataclass(frozen=True, slots=True)
class LatticeRecovery:
    """What lattice reduction found.

    Attributes
    ----------
    found : whether the rows have a relation that chance does not explain.
    direction : (d,) the unit direction, the rarer rows on the positive side; None where nothing
        was found.
    coefficients : (n,) the whole number b of every row; with an offset 0 is the most frequent.
        None where nothing was found.
    evidence : bits by which the best relation beats chance; negative where chance explains it.
    """

    found: bool
    direction: np.ndarray | None
    coefficients: np.ndarray | None
    evidence: float


def lattice_recovery(X: Any, *, offset: bool = True) -> LatticeRecovery:
    """Recover the direction along which the rows of X take few, evenly spaced, values.

    Only the span of the columns matters: they may be mapped linearly, and centred where `offset`
    is True. All rows are used, and the time grows fast with their number: a few more than d + 2
    are enough. Needs fpylll, the extra "lattice".

    Parameters
    ----------
    X : (n, d) float64 rows, n at least d + 2, or d + 1 without an offset, and at most 250.
    offset : whether the values are alpha b + beta, as those of two clusters are; without it they
        are alpha b, as 0 and +-1 / sqrt p of a sparse vector.
    """
    rows = _checked_rows(X, check_flag("offset", offset))
    basis, triangle = np.linalg.qr(rows, mode="complete")
    d = rows.shape[1]
    sizes = np.abs(np.diag(triangle))
    if sizes.min() <= _DEPENDENT * sizes.max():
        raise ValueError(
            f"the {d} columns of X are linearly dependent; drop those that follow from others."
        )
    across = basis[:, d:]
    b, evidence = _best_relation(across, offset)
    if evidence < _EVIDENCE:
        return LatticeRecovery(False, None, None, evidence)
    nu = _values(b, across) if offset else b
    direction = np.linalg.solve(triangle[:d], basis[:, :d].T @ nu)
    return LatticeRecovery(True, normalise(direction), b.astype(np.int64), evidence)


def _best_relation(across: np.ndarray, offset: bool) -> tuple[np.ndarray, float]:
    """Return the whole vector b with the most evidence, and that evidence."""
    b = np.zeros(across.shape[0])
    best, equations = -math.inf, across
    if offset:
        best = _evidence(np.ones_like(b), across, among=1)
        if best >= _EVIDENCE:  # every row has the same value
            return b, best
        equations = _without_offset(across)
    for candidate in _short_vectors(equations):
        relation = _relative_to_most(candidate) if offset else candidate
        evidence = _evidence(relation, equations)
        if evidence > best:
            b, best = relation, evidence
    return b, best


def _values(b: np.ndarray, across: np.ndarray) -> np.ndarray:
    """Return b + beta 1 as it lies in the span of the columns, or 1 where b is 0."""
    ones = np.ones_like(b)
    along = across.T @ ones
    if not b.any():
        return ones
    beta = -float(along @ (across.T @ b)) / float(along @ along)
    return b + beta


def _checked_rows(X: Any, offset: bool) -> np.ndarray:
    rows = to_numpy(as_table(X))
    if rows.dtype != np.float64:
        raise ValueError(
            f"X has dtype {rows.dtype}; lattice recovery lives on the last digits of exact rows "
            "and needs them in float64."
        )
    n, d = rows.shape
    least = d + 2 if offset else d + 1
    if n < least:
        raise ValueError(
            f"X has {n} rows of {d} columns; with offset={offset} lattice recovery needs at least "
            f"{least}: below, no method can tell the direction."
        )
    if n > _MOST_ROWS:
        raise ValueError(
            f"X has {n} rows; lattice reduction takes hours beyond {_MOST_ROWS}, and a few more "
            f"than {least} are enough. Pass some of them, such as X[:{least + d // 5}]."
        )
    return rows


def _without_offset(across: np.ndarray) -> np.ndarray:
    """Return the equations (n, k - 1) that hold for b whatever the offset beta is."""
    along = across.T @ np.ones(across.shape[0])
    others = np.linalg.qr(along[:, None], mode="complete")[0][:, 1:]
    return np.asarray(across @ others)


def _short_vectors(equations: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the rows of an LLL-reduced basis in the first n coordinates, the shortest first."""
    try:
        fpylll = import_module("fpylll")
    except ModuleNotFoundError as missing:
        raise ModuleNotFoundError(
            "lattice_recovery needs fpylll; install it by: pip install 'sightline[lattice]'"
        ) from missing
    n = equations.shape[0]
    scaled = np.rint(equations * 2.0**_BITS).astype(np.int64)
    lattice = np.concatenate((np.eye(n, dtype=np.int64), scaled), axis=1).tolist()
    reduced = fpylll.LLL.reduction(fpylll.IntegerMatrix.from_matrix(lattice))
    for row in reduced:
        yield np.array([float(row[i]) for i in range(n)])


def _relative_to_most(b: np.ndarray) -> np.ndarray:
    """Return b less its most frequent value, over the largest common divisor, mostly positive.

    (b and 1 - b, and 1 - 2 b, are the same relation where the offset is free.)
    """
    values, counts = np.unique(b, return_counts=True)
    apart = b - values[np.argmax(counts)]
    divisor = math.gcd(*(int(value) for value in apart))
    sign = 1 if np.sum(apart) >= 0 else -1
    return np.asarray(apart * (sign / max(divisor, 1)))


def _evidence(b: np.ndarray, equations: np.ndarray, among: int | None = None) -> float:
    """Return -log2 of how many whole vectors random equations would let pass as they do b.

    For k orthonormal random equations, P(|W^T b| <= r) is at most (r / |b|)^k Gamma(n / 2) /
    (Gamma((n - k) / 2) Gamma(k / 2 + 1)). As short as b are, for every s > 0, at most
    exp(s |b|^2) (sum_m exp(-s m^2))^n vectors, unless there are only so many to choose `among`.
    """
    n, k = equations.shape
    square = float(b @ b)
    if square == 0:
        return -math.inf
    residual = max(float(np.linalg.norm(equations.T @ b)) / math.sqrt(square), _ROUNDING)
    passing: float = k * math.log(residual) + math.lgamma(n / 2)
    passing -= math.lgamma((n - k) / 2) + math.lgamma(k / 2 + 1)
    shorter = float(np.min(_S * square + n * _LOG_THETA)) if among is None else math.log(among)
    return -(passing + shorter) / math.log(2)
