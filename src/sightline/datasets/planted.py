"""Tables with one planted direction u: the structure is along u, all else is noise.

    x = nu u + sum_{i >= 2} z_i e_i,    (u, e_2, .., e_d) a random orthonormal basis,

nu from a signal, z_i from the ambient law. Every function returns `X` (n, d), the unit vector
`direction` (d,), and the integer `labels` (n,) that say which part of the law a row came from
(0: the bulk). The same arguments give the same bits, whatever the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from threadpoolctl import threadpool_limits

from sightline._options import as_generator, check_choice, check_count, check_number
from sightline.datasets.signals import ImbalancedClusters, Labels, Signal, Vector
from sightline.sphere import random_directions

Table: TypeAlias = np.ndarray[tuple[int, int], np.dtype[Any]]
Draw: TypeAlias = Callable[[np.random.Generator, tuple[int, int]], Table]

_ROWS = 1024
"""Rows drawn at once: the float64 draws behind a float32 table are never all in memory."""

_SKEW = 3 / math.sqrt(1 + 3**2)
"""delta = alpha / sqrt(1 + alpha^2) of the skew-normal law with the paper's alpha = 3."""


def _rademacher(rng: np.random.Generator, shape: tuple[int, int]) -> Table:
    return 2.0 * rng.integers(0, 2, size=shape) - 1.0


def _skew_normal(rng: np.random.Generator, shape: tuple[int, int]) -> Table:
    pairs = rng.standard_normal((*shape, 2))
    return _SKEW * np.abs(pairs[..., 0]) + math.sqrt(1 - _SKEW**2) * pairs[..., 1]


@dataclass(frozen=True)
class Ambient:
    """A law of independent coordinates; a spherical one is the same along every basis."""

    draw: Draw
    spherical: bool = False


AMBIENTS = {
    "normal": Ambient(lambda rng, shape: rng.standard_normal(shape), spherical=True),
    "rademacher": Ambient(_rademacher),
    "student-t": Ambient(lambda rng, shape: rng.standard_t(2, size=shape)),
    "skew-normal": Ambient(_skew_normal),
}
"""The laws of the paper's supplement for the coordinates orthogonal to the planted direction."""


def make_planted(
    n: int,
    d: int,
    signal: Signal | None = None,
    ambient: str = "normal",
    *,
    random_state: Any = None,
    dtype: Any = np.float64,
) -> tuple[Table, Vector, Labels]:
    """Plant a signal in a random direction of d-dimensional noise.

    Parameters
    ----------
    n, d : rows and columns, each at least 1.
    signal : the law of <x, u>: one of this package's, or any object with a method
        `sample(n, rng)` that returns values and labels. None is `ImbalancedClusters(0.1)`.
    ambient : the law of the other coordinates, independent along e_2, .., e_d, as printed in the
        paper's supplement: "normal" is N(0, 1) and "rademacher" is +-1, which have mean 0 and
        variance 1. "student-t", with 2 degrees of freedom, has no variance. "skew-normal", with
        alpha = 3, is neither centred nor scaled: its mean is 0.757 and its variance 0.427.
    random_state : an int seed, a Generator, or None for fresh entropy.
    dtype : float64 or float32; the float32 table is the float64 one, rounded.

    Returns
    -------
    X : (n, d) in `dtype`.
    direction : (d,), the unit vector u in `dtype`, uniform on the sphere.
    labels : (n,), integers; 0 is the bulk of the signal.
    """
    n, d = check_count("n", n), check_count("d", d)
    noise = AMBIENTS[check_choice("ambient", ambient, AMBIENTS)]
    kind = _float_dtype(dtype)
    rng = as_generator(random_state)
    direction = random_directions(1, d, rng)[0]
    values, labels = _sampled(ImbalancedClusters(0.1) if signal is None else signal, n, rng, kind)
    X = np.empty((n, d), dtype=kind)
    fill = _fill_by_projection if noise.spherical else _fill_along_basis
    fill(X, values, direction, noise.draw, rng)
    return X, direction.astype(kind), labels


def make_unequal_variance(  # noqa: PLR0917  (the paper's parameters, then the seed)
    n: int, d: int, p: float, delta: float, lam: float, random_state: Any = None
) -> tuple[Table, Vector, Labels]:
    """Draw from (1 - p) N(0, I) + p N(delta u, lam I): the second cluster has its own variance.

    Parameters
    ----------
    n, d : rows and columns, each at least 1.
    p : probability of the shifted cluster (label 1), in (0, 1).
    delta : how far it is shifted along the direction u.
    lam : its variance in every direction, at least 0.
    random_state : an int seed, a Generator, or None for fresh entropy.
    """
    delta, deviation = check_number("delta", delta), math.sqrt(check_number("lam", lam, low=0))
    X, direction, labels = _normal_rows(n, d, p, random_state)
    shifted = labels == 1
    X[shifted] = deviation * X[shifted] + delta * direction
    return X, direction, labels


def make_anisotropic(
    n: int, d: int, p: float, lam: float, random_state: Any = None
) -> tuple[Table, Vector, Labels]:
    """Draw from (1 - p) N(0, I) + p N(0, I + (lam - 1) u u^T): one centre, one odd variance.

    Parameters
    ----------
    n, d : rows and columns, each at least 1.
    p : probability of the anisotropic part (label 1), in (0, 1).
    lam : its variance along the direction u, at least 0; it is 1 along all others.
    random_state : an int seed, a Generator, or None for fresh entropy.
    """
    stretch = math.sqrt(check_number("lam", lam, low=0)) - 1
    X, direction, labels = _normal_rows(n, d, p, random_state)
    along = np.where(labels == 1, stretch * _scores(X, direction), 0.0)
    X += along[:, None] * direction
    return X, direction, labels


def _normal_rows(n: int, d: int, p: float, random_state: Any) -> tuple[Table, Vector, Labels]:
    """Draw N(0, I) rows, a direction, and labels that are 1 with probability p."""
    n, d = check_count("n", n), check_count("d", d)
    p = check_number("p", p, low=0, high=1, open_low=True, open_high=True)
    rng = as_generator(random_state)
    direction = random_directions(1, d, rng)[0]
    labels = (rng.random(n) < p).astype(np.int64)
    return rng.standard_normal((n, d)), direction, labels


def _float_dtype(dtype: Any) -> np.dtype[Any]:
    kind: np.dtype[Any]
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind not in (np.float32, np.float64):
        raise ValueError(f"dtype={dtype!r} must be float32 or float64.")
    return kind


def _sampled(
    signal: Any, n: int, rng: np.random.Generator, dtype: np.dtype[Any]
) -> tuple[Vector, Labels]:
    """Return the signal's values and labels, or say what a user's own signal got wrong."""
    if isinstance(signal, type) or not callable(getattr(signal, "sample", None)):
        what = "is a class; pass an instance" if isinstance(signal, type) else "is no signal"
        raise TypeError(
            f"signal={signal!r} {what}, such as ImbalancedClusters(0.1), or any object with a "
            "method sample(n, rng) that returns values and labels."
        )
    drawn, parts = signal.sample(n, rng)
    values, labels = np.asarray(drawn, dtype=np.float64), np.asarray(parts)
    if values.shape != (n,) or labels.shape != (n,) or labels.dtype.kind not in "iu":
        raise ValueError(
            f"signal={signal!r}: sample({n}, rng) returned values of shape {values.shape} and "
            f"labels of shape {labels.shape} and dtype {labels.dtype}; it must return {n} real "
            f"values and {n} integer labels."
        )
    if not np.all(np.abs(values) <= np.finfo(dtype).max):
        raise ValueError(
            f"signal={signal!r}: sample({n}, rng) returned values that are not finite in {dtype}; "
            "use a signal of smaller range."
        )
    return values, labels.astype(np.int64)


def _scores(rows: Table, direction: Vector) -> Vector:
    """Return <x, u> for every row, without BLAS, whose bits depend on its threads."""
    scores: Vector = np.einsum("ij,j->i", rows, direction)
    return scores


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, min(start + _ROWS, n)) for start in range(0, n, _ROWS))


def _fill_by_projection(
    X: Table, values: Vector, direction: Vector, draw: Draw, rng: np.random.Generator
) -> None:
    """Fill X with nu u + (I - u u^T) g: the law for spherical g without a d x d basis."""
    for block in _blocks(len(values)):
        rows = draw(rng, X[block].shape)
        rows += (values[block] - _scores(rows, direction))[:, None] * direction
        X[block] = rows


def _fill_along_basis(
    X: Table, values: Vector, direction: Vector, draw: Draw, rng: np.random.Generator
) -> None:
    """Fill X with nu u + sum z_i e_i for a basis (u, e_2, .., e_d) that is uniform given u."""
    d = len(direction)
    with threadpool_limits(limits=1, user_api="blas"):  # the bits depend on the BLAS threads
        frame = np.vstack((direction, rng.standard_normal((d - 1, d))))
        basis, triangle = np.linalg.qr(frame.T)
        # QR is unique only up to signs; a positive diagonal makes the basis uniform.
        others = (basis * np.copysign(1.0, np.diagonal(triangle)))[:, 1:].T
        for block in _blocks(len(values)):
            noise = draw(rng, (len(values[block]), d - 1))
            X[block] = noise @ others + values[block, None] * direction
