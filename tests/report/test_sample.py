"""The sample keeps what is rare, draws no more than asked, and its weights add up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.report.sample import draw_rows


@st.composite
def tables(draw):
    n = draw(st.integers(1, 3000))
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    codes = rng.integers(0, draw(st.integers(1, 12)), n)
    sides = [rng.random(n) < draw(st.floats(0, 0.6)) for _ in range(draw(st.integers(1, 4)))]
    return sides, codes, draw(st.integers(60, 3000))


@given(tables())
def test_laws_of_the_sample(table):
    sides, codes, most = table
    drawn = draw_rows(sides, codes, most, np.random.default_rng(0))
    assert drawn.rows.size <= most
    assert (np.diff(drawn.rows) > 0).all()
    assert drawn.rows.size == drawn.strata.size
    for side, whole in zip(sides, drawn.whole, strict=True):
        assert whole == np.isin(np.flatnonzero(side), drawn.rows).all() or codes.size > most
        if whole:
            assert np.isin(np.flatnonzero(side), drawn.rows).all()
    weights = drawn.weights[drawn.strata]
    for group in np.unique(codes):  # what is drawn of a group stands for all of it
        of_group = codes[drawn.rows] == group
        assert weights[of_group].sum() == pytest.approx(np.count_nonzero(codes == group))
    assert weights.sum() == pytest.approx(codes.size)


def test_few_rows_are_all_drawn():
    drawn = draw_rows([np.zeros(5, bool)], np.zeros(5, int), 5, np.random.default_rng(0))
    assert drawn.rows.tolist() == [0, 1, 2, 3, 4]
    assert drawn.whole == (True,)


def test_small_sides_are_kept_and_one_too_large_is_sampled():
    small, large = np.zeros(10_000, bool), np.zeros(10_000, bool)
    small[:30], large[100:4000] = True, True
    drawn = draw_rows([large, small], np.zeros(10_000, int), 1000, np.random.default_rng(0))
    assert drawn.whole == (False, True)
    assert drawn.rows[:30].tolist() == list(range(30))
    assert drawn.rows.size == 1000


def test_a_rare_group_is_drawn_beside_a_common_one():
    codes = np.zeros(100_000, int)
    codes[:200] = 1
    nobody = np.zeros(codes.size, bool)
    drawn = draw_rows([nobody], codes, 5000, np.random.default_rng(0))
    assert np.count_nonzero(codes[drawn.rows] == 1) == 200


def test_the_sample_is_uniform_within_a_group():
    counts = np.zeros(50)
    for seed in range(400):
        drawn = draw_rows([np.zeros(50, bool)], np.zeros(50, int), 10, np.random.default_rng(seed))
        counts[drawn.rows] += 1
    # Each row is in 400 / 5 = 80 samples, give or take sqrt(400 0.2 0.8) = 8.
    assert np.abs(counts - 80).max() < 4.5 * 8
