"""Groups can be told apart by colour-blind eyes and in grey."""

import itertools

import pytest

from sightline.views import GROUP_STYLES, MOST_GROUPS


def luminance(colour: str) -> float:
    """Relative luminance of sRGB, as WCAG 2 defines it."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_no_two_groups_look_alike_in_colour():
    looks = [(style.colour, style.marker, style.line) for style in GROUP_STYLES]
    assert len(set(looks)) == MOST_GROUPS == 12


def test_neighbours_differ_in_line_marker_and_hatch():
    for one, other in itertools.pairwise(GROUP_STYLES):
        assert one.line != other.line
        assert one.marker != other.marker
        assert one.hatch != other.hatch


@pytest.mark.parametrize("style", GROUP_STYLES, ids=lambda style: style.colour)
def test_no_colour_vanishes_on_white(style):
    assert 1.05 / (luminance(style.colour) + 0.05) >= 2
