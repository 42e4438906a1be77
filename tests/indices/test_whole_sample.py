import numpy as np
import pytest
from diptest import dipstat
from hypothesis import given
from hypothesis import strategies as st

from sightline.indices import Dip
from sightline.sphere import random_directions
from sightline.sums import index_values

SEEDS = st.integers(0, 2**32)


def table(seed, rows=40, columns=4, dtype=float):
    rng = np.random.default_rng(seed)
    return rng.standard_exponential((rows, columns)).astype(dtype) - dtype(0.5)


class TestDip:
    @given(seed=SEEDS, rows=st.integers(1, 60))
    def test_it_is_diptests_own(self, seed, rows):
        X, u = table(seed, rows), random_directions(4, 4, np.random.default_rng(seed + 1))
        expected = [dipstat(X @ start) for start in u]
        np.testing.assert_allclose(index_values(Dip(), u, X), expected, atol=1e-14)

    def test_the_scores_need_not_be_sorted_nor_are_they_changed(self):
        scores = table(0, 30)
        before = scores.copy()
        expected = [dipstat(np.sort(column)) for column in scores.T]
        np.testing.assert_array_equal(Dip().value_of_sample(scores, np), expected)
        np.testing.assert_array_equal(scores, before)

    def test_float32_scores_have_dips_with_all_digits(self):
        scores = table(0, 30, dtype=np.float32)
        expected = [dipstat(column.astype(float)) for column in scores.T]
        np.testing.assert_array_equal(Dip().value_of_sample(scores, np), expected)

    @pytest.mark.parametrize("rows", [1, 2, 50])
    def test_scores_that_all_agree_are_one_mode(self, rows):
        np.testing.assert_array_equal(
            index_values(Dip(), np.eye(2), np.full((rows, 2), 0.1)), [0.0, 0.0]
        )

    @given(seed=SEEDS, scale=st.floats(0.1, 10), shift=st.floats(-10, 10))
    def test_it_does_not_depend_on_scale_and_place(self, seed, scale, shift):
        t = table(seed)
        moved = Dip().value_of_sample(scale * t + shift, np)
        np.testing.assert_allclose(moved, Dip().value_of_sample(t, np), atol=1e-12)

    def test_a_dip_in_float32_is_off_by_less_than_a_row(self):
        # Rounded scores change places with neighbours; one change of place is 1 / n of the dip.
        X = table(0, 100_000, dtype=np.float32)
        u = random_directions(3, 4, np.random.default_rng(1))
        exact = index_values(Dip(), u, X.astype(float))
        np.testing.assert_allclose(index_values(Dip(), u.astype(np.float32), X), exact, atol=1e-5)
