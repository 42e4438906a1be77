"""How groups of rows look: the colours of Okabe and Ito, and what tells groups apart in grey.

Okabe and Ito (2008, Color Universal Design) chose six of the hues for every kind of colour vision.
Their yellow is left out: on white it has a contrast of 1.3, and lines and points in it vanish. No
twelve hues are apart for everybody; the other six are for the groups beyond, whose markers, lines
and hatches have shifted against the colours.
"""

from __future__ import annotations

from dataclasses import dataclass

BULK = "#8a94a0"
"""Rows that nothing is known about, and what is there for comparison."""

MARKED = "#d55e00"
"""The one thing that a picture points at."""


@dataclass(frozen=True, slots=True)
class GroupStyle:
    """One group's colour, and the line, marker and hatch that stand for it in grey."""

    colour: str
    line: str | tuple[int, tuple[float, ...]]
    marker: str
    hatch: str


_COLOURS = (
    *("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"),
    *("#7b61c9", "#9a9a1f", "#b03a6f", "#1fb5ad", "#8c5a3c", "#6f8f4e"),
)

_LINES = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 2.5)))

_MARKERS = ("o", "^", "s", "D", "v", "P")

_HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----")

GROUP_STYLES = tuple(
    GroupStyle(
        colour,
        _LINES[(place + place // 6 * 3) % len(_LINES)],
        _MARKERS[(place + place // 6 * 3) % len(_MARKERS)],
        _HATCHES[(place + place // 6 * 3) % len(_HATCHES)],
    )
    for place, colour in enumerate(_COLOURS)
)
"""The looks of as many groups as can be told apart."""

MOST_GROUPS = len(GROUP_STYLES)
"""Groups that are shown each for itself; the smallest beyond this are shown as one."""


def group_style(place: int) -> GroupStyle:
    """Return the look of the group at a place in the order of groups."""
    return GROUP_STYLES[place]
