"""Where the ascent begins: data points, random directions, moments of the data, or all of them.

Every function returns unit rows (m, d) in the library, on the device and in the dtype of the
rows `X`, which are taken to be centred. Start i does not depend on how many starts follow.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from sightline._arrays import Array, as_table, like, namespace, take_rows, to_numpy
from sightline._options import check_choice, check_count
from sightline._threads import one_blas_thread
from sightline.moments import fourth_moment_matrix, third_moment_along, third_moment_vector
from sightline.rows import WHOLE_ORDER, random_rows
from sightline.sphere import normalise, random_directions

STARTS = ("data", "random", "moments", "union")

_MOMENT_SHARE = 4
"""One start in this many comes from moments in a union; they are few and good, or no good."""


def make_starts(X: Array, kind: str | Array, count: int, rng: np.random.Generator) -> Array:
    """Return `count` starts of one kind, or fewer where the rows hold no more.

    Parameters
    ----------
    X : (n, d) centred rows.
    kind : "data" (normalised rows, as in the paper), "random", "moments" (third and fourth
        moments), or "union" (a quarter moments at the most, half the rest data, half random);
        or directions (m, d) of your own, which are normalised and all kept.
    count : how many; "data" gives at most one a row, "moments" at most 4 d + 2.
    rng : the source of randomness; "moments" uses none.
    """
    if not isinstance(kind, str):
        return _given(kind, X)
    check_choice("starts", kind, STARTS)
    check_count("n_starts", count)
    if kind == "random":
        return like(random_directions(count, X.shape[1], rng), X)
    if kind == "moments":
        return moment_starts(X, count)
    if kind == "data":
        return data_starts(X, count, rng)
    xp = namespace(X)
    moments = moment_starts(X, -(-count // _MOMENT_SHARE))
    data = data_starts(X, max(1, (count - moments.shape[0]) // 2), rng)
    rest = max(0, count - moments.shape[0] - data.shape[0])
    drawn = like(random_directions(rest, X.shape[1], rng), X)
    return xp.concat((moments, data, drawn))[:count, :]


def _given(directions: Array, X: Array) -> Array:
    """Return a caller's own starts, normalised, beside the rows."""
    given = unit_rows(directions, "starts")
    if given.shape[1] != X.shape[1]:
        raise ValueError(f"starts have {given.shape[1]} columns; X has {X.shape[1]}.")
    return like(to_numpy(given), X)


def unit_rows(directions: Array, name: str) -> Array:
    """Return the rows u / |u| of a caller's own directions; a row of zeros is an error."""
    given = as_table(directions, name)
    zero = np.flatnonzero(to_numpy(namespace(given).all(given == 0, axis=1)))
    if zero.size:
        raise ValueError(
            f"{name}: row {zero[0]} is zero, and has no direction. Leave it out, or draw another."
        )
    return normalise(given)


def data_starts(X: Array, count: int, rng: np.random.Generator) -> Array:
    """Return x / |x| for rows x in random order; rows at the origin have no direction.

    A row of a small far cluster lies nearer to its direction than a random start does: at p = 1 in
    100, ten times nearer.
    """
    n = X.shape[0]
    order = random_rows(n, n if n <= WHOLE_ORDER else 2 * count, rng)
    starts = normalise(take_rows(X, order[:count]))
    if _somewhere(starts).size == starts.shape[0]:
        return starts
    drawn = take_rows(X, order)
    somewhere = _somewhere(drawn)
    if not somewhere.size:
        raise ValueError("every row of X is at the origin; use starts='random'.")
    return normalise(take_rows(drawn, somewhere[:count]))


def _somewhere(rows: Array) -> np.ndarray:
    """Return the positions of rows that are not at the origin."""
    xp = namespace(rows)
    return np.flatnonzero(to_numpy(xp.any(rows != 0, axis=1)))


def moment_starts(X: Array, count: int) -> Array:
    """Return directions that third and fourth moments point at, each followed by its opposite.

    In turn: the mean of |x|^2 x; then eigenvectors of the third moment contracted with it and of
    the fourth-moment matrix mean |x|^2 x x^T, from both ends inwards. They win where a cluster is
    too large for a single row to lie near its direction.
    """
    third = third_moment_vector(X)
    leading = to_numpy(third).astype(np.float64)
    columns = [leading] if leading.any() else []
    contracted = _from_both_ends(third_moment_along(X, normalise(third)), by_size=True)
    fourth = _from_both_ends(fourth_moment_matrix(X), by_size=False)
    for pair in zip(contracted, fourth, strict=True):
        columns += pair
        if 2 * len(columns) >= count:
            break
    host = normalise(np.array(columns))
    return like(np.stack((host, -host), axis=1).reshape(-1, X.shape[1])[:count], X)


def _from_both_ends(matrix: Array, *, by_size: bool) -> np.ndarray:
    """Return eigenvectors as rows: largest |value| first, or largest, smallest, next, ..."""
    with one_blas_thread():
        values, vectors = linalg.eigh(to_numpy(matrix).astype(np.float64))
    if by_size:
        order = np.argsort(-np.abs(values), kind="stable")
    else:
        ends = np.arange(values.size)
        order = np.stack((ends[::-1], ends), axis=1).ravel()[: values.size]
    return np.asarray(vectors[:, order].T)
