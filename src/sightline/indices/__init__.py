"""Projection indices: what makes a direction interesting.

`INDICES` is the one registry; contract tests and the tables of the documentation read it.
"""

from __future__ import annotations

from typing import Any

from sightline._options import check_choice
from sightline.indices.check import check_derivative
from sightline.indices.combined import ApproxEntropy
from sightline.indices.contract import Index, UserIndex, missing_methods
from sightline.indices.logcosh import LogCosh
from sightline.indices.pointwise import Abs, AbsMax, Kurtosis, ReLU2, Skewness
from sightline.indices.whole_sample import Dip

__all__ = [
    "INDICES",
    "Abs",
    "AbsMax",
    "ApproxEntropy",
    "Dip",
    "Index",
    "Kurtosis",
    "LogCosh",
    "ReLU2",
    "Skewness",
    "check_derivative",
    "make_index",
    "selection_index",
]

INDICES: dict[str, type[Index]] = {
    kind.name: kind
    for kind in (ReLU2, Kurtosis, Abs, AbsMax, Skewness, ApproxEntropy, LogCosh, Dip)
}


def make_index(spec: Any, *, check: bool = False, option: str = "index") -> Index:
    """Return the index that `spec` names or is.

    Parameters
    ----------
    spec : a name in `INDICES`, an instance of one of its classes, or any object with a method
        `value_slope(scores, xp)` that returns phi(t) and phi'(t).
    check : compare the slope with finite differences of the value, and raise where they disagree.
    option : what the caller's option is called, for the message of an error.
    """
    if isinstance(spec, str):
        index = INDICES[check_choice(option, spec, INDICES)]()
    else:
        _require_methods(spec, option)
        index = spec if isinstance(spec, Index) else UserIndex(spec)
    if check:
        check_derivative(index)
    return index


def _require_methods(spec: Any, option: str) -> None:
    names = ", ".join(repr(name) for name in INDICES)
    if isinstance(spec, type):
        raise TypeError(
            f"{option}={spec!r} is a class; pass an instance, or one of the names {names}."
        )
    lacking = missing_methods(spec)
    if lacking:
        raise TypeError(
            f"{option}={spec!r} is no index: it lacks {', '.join(lacking)}. "
            f"Pass an object that has them, or one of the names {names}."
        )


def selection_index(index: Index, select: Any = None) -> Index:
    """Return psi: `select` where it is given, else the one that the index declares for itself."""
    if select is not None:
        return make_index(select, option="select")
    return index if index.selection is None else make_index(index.selection)
