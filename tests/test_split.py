"""The split is the likeliest of all cuts, whatever units, signs and repeats the scores have."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sightline.split
from sightline.split import split_in_two


def two_groups(rng, small, large, distance):
    return np.concatenate([rng.standard_normal(large), distance + rng.standard_normal(small)])


@pytest.mark.parametrize("small", [5, 50, 500, 4000])
def test_finds_groups_of_any_balance(small):
    scores = two_groups(np.random.default_rng(small), small, 4500, 12.0)
    split = split_in_two(scores)
    np.testing.assert_array_equal(np.flatnonzero(split.small), np.arange(4500, 4500 + small))
    assert split.above
    assert split.size == small


def test_the_threshold_errs_least():
    """Known to lie where (1-w) N(0,1) and w N(6,1) are equal: 3 + log((1-w)/w) / 6."""
    scores = two_groups(np.random.default_rng(0), 20_000, 180_000, 6.0)
    assert split_in_two(scores).threshold == pytest.approx(3 + math.log(9) / 6, abs=0.15)


def test_the_criterion_is_the_printed_one():
    """By brute force over all cuts with at least two rows on either side."""
    scores = np.sort(np.random.default_rng(1).gamma(0.7, size=60))

    def criterion(k):
        parts = scores[:k], scores[k:]
        return sum(p.size / 60 * math.log(p.std() * 60 / p.size) for p in parts)

    best = min(range(2, 59), key=criterion)
    split = split_in_two(scores)
    assert scores[best - 1] < split.threshold < scores[best]


@given(
    hnp.arrays(np.float64, st.integers(2, 40), elements=st.integers(-8, 8).map(float)),
    st.sampled_from([1e-200, 1e-9, 1.0, 1e200]),
)
def test_sides_are_the_sides_of_the_threshold(scores, scale):
    scaled = scores * scale
    split = split_in_two(scaled)
    if np.ptp(scores) == 0:
        assert split.size == 0
        return
    above = scaled > split.threshold
    np.testing.assert_array_equal(split.small, above if split.above else ~above)
    assert 1 <= split.size <= scores.size / 2


def test_turning_the_scores_round_turns_the_split_round():
    scores = two_groups(np.random.default_rng(2), 30, 470, 9.0)
    split, turned = split_in_two(scores), split_in_two(-scores)
    np.testing.assert_array_equal(split.small, turned.small)
    assert (split.above, turned.above) == (True, False)


def test_neighbouring_floats_are_told_apart():
    low = 1.0
    high = np.nextafter(low, 2.0)
    assert split_in_two(np.array([low, low, low, high, high])).size == 2


def test_one_score_has_no_small_side():
    assert split_in_two(np.array([3.0])).size == 0


@pytest.mark.parametrize("scores", [[], [[1.0, 2.0]]])
def test_what_is_no_list_of_numbers_is_refused(scores):
    with pytest.raises(ValueError, match="list of numbers"):
        split_in_two(scores)


def test_comparing_cuts_in_blocks_changes_nothing(monkeypatch):
    scores = two_groups(np.random.default_rng(8), 40, 300, 3.0)
    whole = split_in_two(scores)
    monkeypatch.setattr(sightline.split, "_CUTS", 7)
    in_blocks = split_in_two(scores)
    assert in_blocks.threshold == whole.threshold
    assert np.array_equal(in_blocks.small, whole.small)
