"""Spectral directions: extreme eigenvectors of third and fourth moments of the rows x.

    cov4max, cov4min    mean |x|^2 x x^T            (d, d)      largest, smallest eigenvalue
    max-skew            T = mean (x (x) x) x^T      (d^2, d)    right singular vector

The rows are taken as they are given: centre and whiten them first. Several directions come by
deflation: one is recovered and projected out of the rows, and the search goes on in coordinates
of its complement, where it has no eigenvalue any more and so cannot come back.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal, TypeAlias, cast

import numpy as np
from scipy.linalg import eigh

from sightline._arrays import Array, as_table, like, namespace, wide_dtype
from sightline._options import check_choice, check_count
from sightline._threads import one_blas_thread
from sightline.moments import check_scale, fourth_moment_matrix, squared_norms
from sightline.rows import fold_rows, map_rows
from sightline.spectral.unfolding import (
    Host,
    as_host,
    contracted,
    leading_vector,
    products_are_cheaper,
    unfolding_gram,
)

End: TypeAlias = Literal["largest", "smallest"]

Found: TypeAlias = Iterator[tuple[Host, float]]
"""Directions in coordinates of what is left, each with its value, as long as they are drawn."""

METHODS = ("cov4max", "cov4min", "max-skew")

_REBUILD_BELOW = 0.01
"""Share of its trace that deflation may leave of T^T T before it is summed from the rows again:
each factor of ten costs the difference a digit."""


@dataclass(frozen=True, slots=True)
class SpectralDirections:
    """Orthonormal `directions` (k, d) in the order found, and the `values` (k,) they have.

    A value is the eigenvalue of mean |x|^2 x x^T, or the singular value of T, of the rows as they
    were deflated by then. The largest entry of a direction is positive: a fixed sign, not one that
    the scores chose.
    """

    directions: Array
    values: Array
    method: str


def spectral_directions(
    X: Array, method: str = "cov4max", n_directions: int = 1, *, singular: str = "largest"
) -> SpectralDirections:
    """Return `n_directions` directions of extreme third or fourth moments of the rows of `X`.

    Parameters
    ----------
    X : (n, d) rows, centred and whitened by the caller.
    method : "cov4max" or "cov4min" (Kollo 2008; Peña, Prieto and Viladomat 2010), or "max-skew"
        (Loperfido's MaxSkew, the paper's 3TensorDecomp).
    n_directions : how many, by deflation; at most d.
    singular : "largest" or "smallest", which singular vector "max-skew" takes. The paper's table
        prints sigma_min; MaxSkew is the largest.
    """
    check_choice("method", method, METHODS)
    check_choice("singular", singular, ("largest", "smallest"))
    if singular == "smallest" and method != "max-skew":
        raise ValueError(
            f"singular='smallest' belongs to method='max-skew', not to method={method!r}; "
            "choose 'cov4max' or 'cov4min' for the ends of the fourth moment."
        )
    X = as_table(X)
    d = X.shape[1]
    n_directions = check_count("n_directions", n_directions, at_most=d)
    check_scale(X)
    found = _find(X, method, n_directions, cast(End, singular))
    directions, values = np.empty((n_directions, d)), np.empty(n_directions)
    basis: Host = np.eye(d)
    for k, (direction, value) in enumerate(islice(found, n_directions)):
        directions[k], values[k] = _fixed_sign(basis @ direction), value
        _check_seen(X, directions[k], k)
        basis = _complement(basis, direction)
    return SpectralDirections(like(directions, X), like(values, X), method)


def _find(X: Array, method: str, n_directions: int, singular: End) -> Found:
    """Choose the way to the directions: the cheapest that is sure at the end that is asked for."""
    if method != "max-skew":
        return _kurtosis_directions(X, "largest" if method == "cov4max" else "smallest")
    # The smallest singular values crowd together, and there the Lanczos method hardly converges.
    n, d = X.shape
    if singular == "largest" and products_are_cheaper(n, d, n_directions):
        return _skewness_by_products(X)
    return _skewness_by_matrix(X, singular)


def _kurtosis_directions(rows: Array, end: End) -> Found:
    while True:
        matrix = as_host(fourth_moment_matrix(rows))
        direction, value = _extreme_eigenvector(matrix, end, _rounding(rows))
        yield direction, value
        rows = _complement(rows, direction)


def _skewness_by_matrix(rows: Array, end: End) -> Found:
    """Find singular vectors of T from T^T T, which is deflated itself: one pass over the rows."""
    gram = unfolding_gram(rows)
    built = np.trace(gram)
    while True:
        direction, _ = _extreme_eigenvector(gram, end, _rounding(rows))
        along = contracted(rows, direction)
        yield direction, _singular_value(rows, along, end)
        gram = _deflated(gram, along, direction)
        rows = _complement(rows, direction)
        if np.trace(gram) < _REBUILD_BELOW * built:
            gram = unfolding_gram(rows)
            built = np.trace(gram)


def _deflated(gram: Host, along: Host, direction: Host) -> Host:
    """Return T'^T T' of the rows without their parts along u, on the complement of u.

    With A = T u, it is T^T T - 2 A^2 + (A u)(A u)^T there.
    """
    with one_blas_thread():
        edge = along @ direction
        rest = gram - 2 * along @ along + np.outer(edge, edge)
        deflated: Host = _complement(_complement(rest, direction).T, direction)
    return deflated


def _skewness_by_products(rows: Array) -> Found:
    """Find leading singular vectors of T by products; go on by the matrix where they tie."""
    while (direction := leading_vector(rows)) is not None:
        yield direction, _singular_value(rows, contracted(rows, direction), "largest")
        rows = _complement(rows, direction)
    yield from _skewness_by_matrix(rows, "largest")


def _extreme_eigenvector(matrix: Host, end: End, rounding: float) -> tuple[Host, float]:
    """Return one unit eigenvector of a symmetric matrix, and its eigenvalue.

    Entries are good to some `rounding` times the trace, and a smallest eigenvalue below that is
    noise: an error.
    """
    at = matrix.shape[0] - 1 if end == "largest" else 0
    with one_blas_thread():
        values, vectors = eigh(matrix, subset_by_index=[at, at])
    if end == "smallest" and values[0] <= 1e3 * rounding * np.trace(matrix):
        raise ValueError(
            f"the smallest eigenvalue, {values[0]:.3g} beside a trace of {np.trace(matrix):.3g}, "
            "is lost in rounding: the rows do not span their columns, or some are very much "
            "larger than others. Centre X and whiten it, truncated to its rank."
        )
    return vectors[:, 0], float(values[0])


def _complement(rows: Array, direction: Host) -> Array:
    """Return the rows' d - 1 coordinates in the orthogonal complement of a direction (d,).

    The basis is the first d - 1 columns of the reflection that takes the direction to the last
    axis: one dyad to subtract, where a product with any other basis would cost d times more. The
    coordinates are kept in the wide dtype, so that rounding does not add up over many directions.
    """
    rows = namespace(rows).astype(rows, wide_dtype(rows), copy=False)
    mirror = direction.copy()
    mirror[-1] += np.copysign(1.0, mirror[-1])
    normal = like(mirror / np.linalg.norm(mirror), rows)

    def reflected(block: Array) -> Array:
        return block[:, :-1] - 2 * (block @ normal)[:, None] * normal[None, :-1]

    return map_rows(reflected, rows, width=rows.shape[1] - 1)


def _fixed_sign(direction: Host) -> Host:
    """Make the first of the entries that are largest, up to rounding, positive."""
    size = np.abs(direction)
    decisive = int(np.argmax(size >= (1 - 1e-6) * size.max()))
    signed: Host = direction * np.copysign(1.0, direction[decisive])
    return signed


def _singular_value(rows: Array, along: Host, end: End) -> float:
    """Return |T u|, or raise where the largest is all that rounding leaves of a vanishing T."""
    xp, wide = namespace(rows), wide_dtype(rows)

    def cubes(block: Array) -> Array:
        return xp.sum(squared_norms(xp.astype(block, wide, copy=False)) ** 1.5)

    value = float(np.linalg.norm(along))
    cube = float(fold_rows(cubes, rows, width=rows.shape[1])) / rows.shape[0]
    if end == "largest" and value <= 64 * _rounding(rows) * cube:
        raise ValueError(
            "method='max-skew' finds no skewness: the third moment of the rows is 0 in every "
            "direction that is left, as for rows symmetric about 0. Use 'cov4max' or 'cov4min', "
            "or ask for fewer n_directions."
        )
    return value


def _rounding(rows: Array) -> float:
    """Return the spacing of numbers in the dtype that sums over the rows are kept in."""
    return float(namespace(rows).finfo(wide_dtype(rows)).eps)


def _check_seen(X: Array, direction: Host, n_found: int) -> None:
    """Raise where every row is 0 along the direction, as an eigenvector of an empty subspace."""
    xp = namespace(X)
    # Rows out of reach keep what rounding and inexact directions (to some 1e-12) leave of them.
    nothing = max(4 * float(xp.finfo(X.dtype).eps) * X.shape[1] ** 0.5, 1e-10)
    seen = float(xp.max(xp.abs(X @ like(direction, X))))
    if seen <= nothing * float(xp.max(xp.abs(X))):
        raise ValueError(
            f"after {n_found} direction(s) the next is one along which every row of X is 0: the "
            f"rows do not span their {X.shape[1]} columns. Truncate X to its rank when whitening, "
            "or ask for fewer n_directions."
        )
