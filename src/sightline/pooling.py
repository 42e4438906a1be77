"""Directions of several indices over the same rows: the one way from a detector to the pursuit."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from sightline._arrays import Array, namespace
from sightline.pursuit import pursue
from sightline.whitening import Whitening


def pool_directions(
    X: Array,
    whitening: Whitening,
    indices: Any,
    *,
    n_components: int,
    random_state: np.random.Generator,
    **options: Any,
) -> Array:
    """Return unit whitened directions (k, r), at most `n_components` an index, best first in each.

    Parameters
    ----------
    X : (n, d) table.
    whitening : fitted on it.
    indices : an index by name or as an object, or a tuple or list of them.
    n_components : directions an index; fewer where fewer distinct ones are found.
    random_state : the source of randomness.
    options : further options of `pursue`.
    """
    several = indices if isinstance(indices, tuple | list) else (indices,)
    if not several:
        raise ValueError(f"index={indices!r} names no index; give one, or a tuple of some.")
    found = []
    for index in several:
        with warnings.catch_warnings():  # fewer distinct directions are no news to a detector
            warnings.filterwarnings("ignore", "[0-9]+ of n_components", UserWarning)
            pursued = pursue(
                X,
                whitening,
                index=index,
                n_components=min(n_components, whitening.rank),
                random_state=random_state,
                **options,
            )
        found.append(pursued.directions)
    return namespace(X).concat(found)
