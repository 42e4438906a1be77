"""Which columns hold numbers to look at, by the names asked for and by what they hold."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from sightline.sources.errors import DataError
from sightline.sources.table import Host, Request

_IDENTIFIER_NAME = re.compile(
    r"(?i)(?:.*[\W_])?(?:id|ids|uid|uuid|guid|key|index|rownum|row_?number|row_?id)|unnamed: 0"
)


def check_names(name: str, columns: Sequence[str], first_line: str = "") -> None:
    """Raise where columns have no name or share one: they could not be told apart."""
    for position, column in enumerate(columns):
        if not column.strip():
            raise DataError(
                f"{name}{first_line}: column {position + 1} of {len(columns)} has no name. "
                "Give it one (the index of a data frame is often saved like that)."
            )
    column, count = Counter(columns).most_common(1)[0]
    if count > 1:
        places = [str(i + 1) for i, other in enumerate(columns) if other == column]
        raise DataError(
            f"{name}{first_line}: {count} columns are called {column!r}, in places "
            f"{', '.join(places[:5])}. Rename them so that they can be told apart."
        )


def choose(
    name: str, kinds: Mapping[str, str | None], request: Request
) -> tuple[list[str], dict[str, str]]:
    """Return the columns to read, and why others are left out.

    Parameters
    ----------
    name : of the source.
    kinds : for each column None if it holds numbers, else what it holds instead.
    request : names a user asked for; they must be there and hold numbers.
    """
    asked = [*(request.columns or ()), *request.drop]
    asked += [] if request.label_column is None else [request.label_column]
    for column in asked:
        if column not in kinds:
            near = difflib.get_close_matches(column, kinds, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"It has {_listed(list(kinds))}."
            raise DataError(f"{name} has no column {column!r}. {hint}")
    kept, left_out = [], {}
    for column in kinds if request.columns is None else dict.fromkeys(request.columns):
        kind = kinds[column]
        if column == request.label_column or column in request.drop:
            continue
        if kind is None or (request.columns is not None and kind == "yes or no"):
            kept.append(column)
        elif request.columns is not None:
            raise DataError(
                f"{name}: column {column!r} holds {kind}, not numbers. Leave it out of --columns."
            )
        else:
            left_out[column] = kind
    if not kept:
        held = ", ".join(f"{column!r} ({kind})" for column, kind in list(left_out.items())[:5])
        raise DataError(
            f"{name} has no column of numbers to look at"
            f"{f': {held}' if held else ''}. Check the separator and the decimal sign."
        )
    return kept, left_out


def _listed(columns: list[str]) -> str:
    more = f" and {len(columns) - 8} more" if len(columns) > 8 else ""
    return f"the columns {', '.join(map(repr, columns[:8]))}{more}"


def is_identifier(column: str, values: Host, rows: Host) -> bool:
    """Say whether a column names its rows: whole numbers, all different, that count or say so.

    A column counts where each value is its row's position plus one and the same number. Fewer than
    three rows say nothing.
    """
    if values.size < 3 or not np.isfinite(values).all():
        return False
    if np.all(np.diff(values) == np.diff(rows)):
        return bool(values[0] == np.floor(values[0]))
    if not _IDENTIFIER_NAME.fullmatch(column.strip()) or np.any(values != np.floor(values)):
        return False
    return bool(np.unique(values).size == values.size)
