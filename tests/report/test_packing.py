"""Packed scores are near the scores and on the same side of the threshold."""

import base64

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sightline.report.packing import STEPS, base64_text, pack_scores


def unpacked(packed):
    """Return the scores as the page reads them."""
    return packed.low + packed.codes * ((packed.high - packed.low) / STEPS)


scores = st.lists(st.floats(-1e6, 1e6, width=32), min_size=2, max_size=50).map(np.array)


@given(scores, st.floats(0, 1))
def test_rounding_moves_a_score_by_at_most_a_step_and_never_over_the_threshold(values, part):
    low, high = float(values.min()), float(values.max())
    if high - low < 1e-3:
        high = low + 1.0
    threshold = low + part * (high - low)
    packed = pack_scores(values, (low, high), threshold)
    step = (high - low) / STEPS
    assert np.abs(unpacked(packed) - values).max() <= 1.001 * step
    np.testing.assert_array_equal(packed.codes >= packed.cut, values > threshold)


def test_scores_out_of_view_are_at_the_ends():
    packed = pack_scores(np.array([-5.0, 0.0, 1.0, 9.0]), (0.0, 1.0), None)
    assert packed.codes.tolist() == [0, 0, STEPS, STEPS]
    assert packed.cut is None


def test_a_threshold_out_of_view_still_parts_the_rows():
    values = np.array([0.2, 0.9, 50.0])
    packed = pack_scores(values, (0.0, 1.0), 20.0)
    assert (packed.codes >= packed.cut).tolist() == [False, False, True]


def test_huge_scores_do_not_overflow():
    packed = pack_scores(np.array([-8e307, 0.0, 8e307]), (-8e307, 8e307), 0.0)
    assert packed.codes.tolist() == [0, packed.cut - 1, STEPS]


def test_text_holds_the_least_significant_byte_first():
    assert base64.b64decode(base64_text(np.array([258, 1], dtype=">u2"))) == b"\x02\x01\x01\x00"
