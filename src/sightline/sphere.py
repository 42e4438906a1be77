"""The unit sphere: tangent parts, normalising, angles, random directions.

Directions are the rows of an array of shape (m, d); every function works on all of them at once.
"""

from __future__ import annotations

import numpy as np

from sightline._arrays import Array, namespace


def tangent(directions: Array, ambient: Array) -> Array:
    """Return (I - u u^T) g for every row u of `directions` and g of `ambient`, shapes (..., d)."""
    xp = namespace(directions, ambient)
    radial = xp.sum(directions * ambient, axis=-1, keepdims=True)
    return ambient - radial * directions


def normalise(vectors: Array) -> Array:
    """Return v / |v| for every row; a zero row, which has no direction, stays zero.

    Rows are scaled by their largest entry first, so that neither 1e-200 nor 1e200 overflows.
    """
    xp = namespace(vectors)
    largest = xp.max(xp.abs(vectors), axis=-1, keepdims=True)
    scaled = vectors / xp.where(largest > 0, largest, xp.ones_like(largest))
    length = xp.sqrt(xp.sum(scaled * scaled, axis=-1, keepdims=True))
    return scaled / xp.where(length > 0, length, xp.ones_like(length))


def alignment(first: Array, second: Array) -> Array:
    """Return |<u, v>| for unit rows u and v, in [0, 1]; a direction and its opposite agree."""
    xp = namespace(first, second)
    inner = xp.abs(xp.sum(first * second, axis=-1))
    return xp.minimum(inner, xp.ones_like(inner))


def angle(first: Array, second: Array) -> Array:
    """Return the angle in degrees between the lines of u and v, in [0, 90].

    By 2 asin(|u - v| / 2) on the nearer side: exact for tiny angles, where acos loses all digits.
    """
    xp = namespace(first, second)
    apart = xp.sqrt(xp.sum((first - second) ** 2, axis=-1))
    against = xp.sqrt(xp.sum((first + second) ** 2, axis=-1))
    half_chord = xp.minimum(apart, against) / 2
    return xp.asin(half_chord) * (360.0 / np.pi)


def random_directions(
    count: int, dimension: int, rng: np.random.Generator
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Draw `count` directions uniformly from the sphere; row i does not depend on `count`."""
    draws: np.ndarray[tuple[int, int], np.dtype[np.float64]] = normalise(
        rng.standard_normal((count, dimension))
    )
    return draws
