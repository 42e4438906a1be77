"""Groups can be told apart by colour-blind eyes and in grey."""

import itertools

import pytest

from sightline.views import GROUP_STYLES, MOST_GROUPS


def luminance(colour: str) -> float:
    """Relative luminance of sRGB, as WCAG 2 defines it."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_every_group_has_a_colour_of_its_own():
    assert len({style.colour for style in GROUP_STYLES}) == MOST_GROUPS == 12


def test_neighbours_differ_in_line_marker_and_hatch():
    for one, other in itertools.pairwise(GROUP_STYLES):
        assert one.line != other.line
        assert one.marker != other.marker
        assert one.hatch != other.hatch


@pytest.mark.parametrize("style", GROUP_STYLES, ids=lambda style: style.colour)
def test_no_colour_vanishes_on_light_or_dark_paper(style):
    own = luminance(style.colour) + 0.05
    assert (luminance("#ffffff") + 0.05) / own >= 2
    assert own / (luminance("#14181b") + 0.05) >= 3
