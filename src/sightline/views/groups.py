"""Groups of rows by label: names in an order that people expect, codes, and counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sightline.views.palette import MOST_GROUPS

_WHOLE = re.compile(r"-?\d+(\.0)?")
"""Whole numbers, as columns that once held floats are written in text files."""

MISSING = "(missing)"
"""What rows without a label are called."""


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows in groups: row i belongs to the group `names[codes[i]]`.

    Attributes
    ----------
    names : one a group, unlabelled rows last, and after them the small groups taken together.
    codes : (n,) positions in `names`.
    counts : (g,) rows of each group.
    """

    names: tuple[str, ...]
    codes: np.ndarray[Any, np.dtype[np.intp]]
    counts: np.ndarray[Any, np.dtype[np.intp]]

    def __len__(self) -> int:
        return len(self.names)

    @property
    def largest_first(self) -> list[int]:
        """Positions of the groups by falling count: in this order none hides a smaller one."""
        return [int(place) for place in np.argsort(-self.counts, kind="stable")]


def group_rows(labels: Any, n_rows: int) -> Groups:
    """Sort rows by label: numbers by size, text by alphabet, at most `MOST_GROUPS` groups.

    Labels may be of any kind, None and NaN among them; two that read the same are one group.
    """
    values = np.asarray(labels)
    if values.shape != (n_rows,):
        raise ValueError(
            f"labels have shape {values.shape}; give one label for each of the {n_rows} rows."
        )
    if values.dtype.kind in "OUS":
        keys, codes = _text_groups(values.tolist())
    else:
        keys, codes = _number_groups(values)
    counts = np.bincount(codes, minlength=len(keys))
    if len(keys) > MOST_GROUPS:
        return _gather_small(keys, codes, counts)
    return Groups(tuple(keys), codes, counts)


def _text_groups(values: list[Any]) -> tuple[list[str], np.ndarray[Any, np.dtype[np.intp]]]:
    texts = [MISSING if _is_missing(value) else _short(value) for value in values]
    if all(_WHOLE.fullmatch(text) for text in set(texts) - {MISSING}):
        texts = [text.removesuffix(".0") for text in texts]
    names = sorted(set(texts), key=lambda name: (name == MISSING, _number(name), name))
    place = {name: position for position, name in enumerate(names)}
    return names, np.fromiter((place[text] for text in texts), dtype=np.intp, count=len(texts))


def _number_groups(
    values: np.ndarray[Any, Any],
) -> tuple[list[str], np.ndarray[Any, np.dtype[np.intp]]]:
    found, codes = np.unique(values, return_inverse=True)
    names = [MISSING if _is_missing(value) else _short(value) for value in found.tolist()]
    return names, codes.astype(np.intp, copy=False).reshape(-1)


def _short(value: Any) -> str:
    """Write 1.0 as 1: whole numbers often arrive as floats."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _number(name: str) -> float:
    """Return the number that a name reads as, so that 10 comes after 9; else one beyond all."""
    try:
        value = float(name)
    except ValueError:
        return float("inf")
    return value if value == value else float("inf")  # noqa: PLR0124  (NaN has no place)


def _is_missing(value: Any) -> bool:
    return value is None or bool(value != value)  # noqa: PLR0124  (NaN and NaT differ from all)


def _gather_small(
    names: Sequence[str],
    codes: np.ndarray[Any, np.dtype[np.intp]],
    counts: np.ndarray[Any, np.dtype[np.intp]],
) -> Groups:
    """Keep the largest groups, and make one of all others."""
    kept = np.sort(np.argsort(-counts, kind="stable")[: MOST_GROUPS - 1])
    place = np.full(len(names), kept.size, dtype=np.intp)
    place[kept] = np.arange(kept.size)
    rest = f"{len(names) - kept.size} other groups"
    gathered = place[codes]
    return Groups((*(names[position] for position in kept), rest), gathered, np.bincount(gathered))
