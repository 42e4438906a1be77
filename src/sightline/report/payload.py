"""The numbers that a page's script draws from, as one JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from sightline.report.axes import Axis, Tour
from sightline.report.packing import base64_text
from sightline.report.sample import Drawn
from sightline.views import Groups, group_style
from sightline.views.palette import BULK

RowIds: TypeAlias = np.ndarray[Any, Any]
"""What the rows of a table are called, (n,)."""

_LONGEST_NAME = 60

_MOST_PACKED = 2**32 - 1


def payload(
    axes: Sequence[Axis],
    tour: Tour | None,
    drawn: Drawn,
    groups: Groups,
    *,
    labelled: bool,
    row_ids: RowIds | None,
) -> dict[str, Any]:
    """Return what `page/` reads: axes, groups, the rows that are drawn and what they stand for."""
    return {
        "rows": int(drawn.rows.size),
        "total": int(groups.codes.size),
        "axes": [_axis(axis) for axis in axes],
        "groups": [
            {
                "name": _short(name),
                "count": int(count),
                "colour": BULK if _is_bulk(place, labelled) else group_style(place).colour,
                "marker": group_style(place).marker,
            }
            for place, (name, count) in enumerate(zip(groups.names, groups.counts, strict=True))
        ],
        "drawingOrder": groups.largest_first,
        "codes": base64_text(groups.codes[drawn.rows].astype(np.uint8)),
        "strata": base64_text(drawn.strata),
        "weights": drawn.weights.tolist(),
        "ids": _ids(drawn, row_ids),
        "tour": None if tour is None else _tour(tour),
    }


def _is_bulk(place: int, labelled: bool) -> bool:
    """Say whether a group is the bulk of rows without labels, which comes first."""
    return place == 0 and not labelled


def _axis(axis: Axis) -> dict[str, Any]:
    return {
        "name": axis.name,
        "short": axis.short,
        "low": axis.packed.low,
        "high": axis.packed.high,
        "cut": axis.packed.cut,
        "threshold": axis.split.threshold if axis.split else None,
        "above": axis.split.above if axis.split else None,
        "codes": base64_text(axis.packed.codes),
    }


def _tour(tour: Tour) -> dict[str, Any]:
    return {
        "centres": tour.centres.tolist(),
        "scales": tour.scales.tolist(),
        "toSpan": tour.to_span.tolist(),
        "axes": tour.axes.tolist(),
    }


def _ids(drawn: Drawn, row_ids: RowIds | None) -> dict[str, Any]:
    """Return what rows are called: whole numbers are packed, anything else is a list of texts."""
    ids = drawn.rows if row_ids is None else row_ids[drawn.rows]
    if all(isinstance(one, Integral) and 0 <= int(one) <= _MOST_PACKED for one in ids):
        return {"numbers": base64_text(ids.astype(np.uint32))}
    return {"texts": [str(one) for one in ids]}


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
