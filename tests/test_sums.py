import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from sightline._arrays import like, namespace, to_numpy, wide_dtype
from sightline.indices import Abs, ApproxEntropy, Dip, ReLU2
from sightline.kernels import make_step
from sightline.lazy import StoredRows, tree_sum
from sightline.rows import ROW_BLOCK, row_blocks, sum_rows
from sightline.sphere import random_directions
from sightline.sums import (
    Sums,
    index_gradients,
    index_sums,
    index_values,
    may_be_rough,
)

SEEDS = st.integers(0, 2**32)
ROUNDING_32 = 2.0**-24


def planted(seed, rows, columns=5, dtype=float):
    """Skewed columns, so that no mean is zero and relative errors mean something."""
    rng = np.random.default_rng(seed)
    return rng.standard_exponential((rows, columns)).astype(dtype) - dtype(0.5)


def starts(seed, count, columns=5, dtype=float):
    return random_directions(count, columns, np.random.default_rng(seed)).astype(dtype)


class TestSumRows:
    @given(seed=SEEDS, rows=st.integers(0, 100), columns=st.integers(0, 3), leading=st.booleans())
    def test_it_is_the_sum_for_any_number_of_rows(self, seed, rows, columns, leading):
        values = planted(seed, rows, columns)[(None,) * leading]
        expected = [math.fsum(column) for column in values.reshape(rows, columns).T]
        assert sum_rows(values).shape == (1,) * leading + (columns,)
        np.testing.assert_allclose(sum_rows(values).ravel(), expected, rtol=1e-13)

    @pytest.mark.parametrize("rows", [0, 1, 31, 32, 33, 1000])
    def test_every_library_sums_to_its_wide_dtype(self, xp, rows):
        values = xp.ones((2, rows, 3), dtype=xp.float32)
        total = sum_rows(values)
        assert (namespace(total), total.dtype) == (xp, wide_dtype(values))
        np.testing.assert_array_equal(to_numpy(total), np.full((2, 3), rows))

    @pytest.mark.parametrize("value", [1 / 3, 0.1, -2 / 3])
    def test_float32_is_added_in_short_runs_alone(self, value):
        # A run of 32 has 31 roundings of at most u of a partial sum: 31 u of the total, at any
        # number of rows. Equal values round alike, so that nothing cancels by chance: a running
        # float32 sum is off by 4.5e-3 to 1.5e-2 here, this one by 1.8e-7 to 3.0e-7.
        columns = np.full((2_000_000, 3), value, dtype=np.float32)
        exact = float(columns[0, 0]) * len(columns)
        assert np.abs(sum_rows(columns) - exact).max() <= 31 * ROUNDING_32 * abs(exact)

    def test_float32_of_mixed_sizes(self):
        # Roundings of either sign cancel: 4e-10 to 9e-10 over seeds 0 to 4, where a running
        # float32 sum is off by 1.2e-3.
        column = planted(0, 1_000_000, 1, np.float32) ** 3
        exact = math.fsum(column[:, 0])
        assert abs(sum_rows(column)[0] - exact) <= 1e-8 * abs(exact)


class TestMerging:
    @given(seed=SEEDS, first=st.integers(1, 40), second=st.integers(1, 40))
    def test_counts_and_parts_add(self, seed, first, second):
        parts = [
            Sums(rows, planted(seed, 2, 3), planted(seed, 6).reshape(2, 3, 5))
            for rows in (first, second)
        ]
        merged = parts[0] + parts[1]
        assert merged.count == first + second
        np.testing.assert_array_equal(merged.values, 2 * parts[0].values)
        np.testing.assert_array_equal(merged.slopes, 2 * parts[0].slopes)

    def test_a_part_that_was_not_asked_for_is_missed_aloud(self):
        X, u = planted(0, 10), starts(1, 2)
        values = index_sums(ReLU2(), u, X)
        slopes = index_sums(ReLU2(), u, X, values=False, slopes=True)
        assert (values.slopes, slopes.values) == (None, None)
        for part in (slopes, values + slopes):
            with pytest.raises(ValueError, match="not asked for"):
                _ = part.mean_values

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_blocks_from_anywhere_merge_to_the_same_bits(self, dtype, tmp_path):
        X, u = planted(0, 3 * ROW_BLOCK + 17, dtype=dtype), starts(1, 7, dtype=dtype)
        whole = index_sums(ApproxEntropy(), u, X, slopes=True)
        np.save(tmp_path / "rows.npy", X)
        mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
        wider = np.concatenate([X, X], axis=1)[:, :5]
        for rows in (mapped, wider):
            same = index_sums(ApproxEntropy(), u, rows, slopes=True)
            np.testing.assert_array_equal(same.values, whole.values)
            np.testing.assert_array_equal(same.slopes, whole.slopes)
            step = make_step(ApproxEntropy(), ApproxEntropy(), u, X)
            parts = (step(rows[block]) for block in row_blocks(len(rows)))
            total = tree_sum(parts)
            np.testing.assert_array_equal(total.values, whole.values)
            np.testing.assert_array_equal(total.pulls.transpose(0, 2, 1), whole.slopes)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("rows", [50, 3000])
    @pytest.mark.parametrize("count", [1, 7, 400])
    def test_threads_change_no_bit(self, dtype, rows, count):
        # OpenBLAS alone gives other bits for two threads than for one: at 300 columns from 2
        # starts on in either precision, tables of 50 rows among them.
        X, u = planted(0, rows, 300, dtype), starts(1, count, 300, dtype)
        sums = []
        for threads in (1, 2, 1):
            with threadpool_limits(threads, user_api="blas"):
                sums.append(index_sums(ReLU2(), u, X, slopes=True))
        for other in sums[1:]:
            np.testing.assert_array_equal(sums[0].values, other.values)
            np.testing.assert_array_equal(sums[0].slopes, other.slopes)


class TestKernel:
    @given(seed=SEEDS, rows=st.integers(1, 40), count=st.integers(1, 4))
    def test_it_is_the_double_loop_over_rows_and_starts(self, seed, rows, count):
        X, u = planted(seed, rows), starts(seed, count)
        sums = index_sums(ApproxEntropy(), u, X, slopes=True)
        t = X @ u.T
        np.testing.assert_allclose(sums.values, [(t**3).sum(0), (t**4).sum(0)], atol=1e-9)
        for row, start in np.ndindex(rows, count):
            score = math.fsum(X[row] * u[start])
            sums.slopes[0, start] -= 3 * score**2 * X[row]
            sums.slopes[1, start] -= 4 * score**3 * X[row]
        np.testing.assert_allclose(sums.slopes, 0, atol=1e-9)
        assert sums.count == rows

    @given(asked=st.tuples(st.booleans(), st.booleans()))
    def test_only_what_is_asked_for_is_computed(self, asked):
        computed = set()

        class Watched(ReLU2):
            def value(self, scores, xp):
                computed.add("values")
                return super().value(scores, xp)

            def slope(self, scores, xp):
                computed.add("slopes")
                return super().slope(scores, xp)

        wanted = dict(zip(("values", "slopes"), asked, strict=True))
        sums = index_sums(Watched(), starts(0, 2), planted(0, 9), **wanted)
        assert computed == {part for part in wanted if wanted[part]}
        assert computed == {part for part in wanted if getattr(sums, part) is not None}
        computed.clear()
        index_gradients(Watched(), starts(0, 2), planted(0, 9))
        assert computed == {"slopes"}

    def test_rows_in_any_layout_give_the_same_sums(self):
        X, u = planted(0, 2500), starts(1, 3)
        frozen = X.copy()
        frozen.setflags(write=False)
        expected = index_values(ReLU2(), u, X)
        for rows in (frozen, np.asfortranarray(X), X[::-1][::-1], X.repeat(2, 1)[:, ::2]):
            np.testing.assert_allclose(index_values(ReLU2(), u, rows), expected, rtol=1e-14)

    def test_features_on_the_wrong_axis_are_an_error(self):
        class Sideways(ApproxEntropy):
            def value(self, scores, xp):
                return xp.stack((scores, scores), axis=-1)

        with pytest.raises(ValueError, match=r"scores of shape \(4, 3\) have shape \(4, 3, 2\)"):
            index_values(Sideways(), starts(0, 3), planted(0, 4))


class TestTop:
    def test_no_rows_have_no_mean(self, xp):
        X, u = xp.zeros((0, 2)), xp.asarray([[1.0, 0.0]])
        for index in (ReLU2(), Dip()):
            with pytest.raises(ValueError, match="X has 0 rows"):
                index_values(index, u, X)
        with pytest.raises(ValueError, match="X has 0 rows"):
            index_gradients(ReLU2(), u, X)

    def test_what_has_no_slope_cannot_climb_and_says_what_can(self):
        with pytest.raises(ValueError, match=r"index 'dip' has no slope.*select=.*'relu2'"):
            index_gradients(Dip(), starts(0, 1), planted(0, 10))

    def test_whole_sample_values_do_not_depend_on_how_many_starts_there_are(self, xp):
        X, u = planted(0, 200), starts(1, 70)
        table = xp.asarray(X)
        values = index_values(Dip(), like(u, table), table)
        assert (namespace(values), values.dtype) == (xp, wide_dtype(table))
        alone = [float(index_values(Dip(), like(v[None], table), table)[0]) for v in u]
        np.testing.assert_allclose(to_numpy(values), alone, rtol=1e-6)

    def test_values_add_up_over_more_rows_than_a_block(self):
        X, u = planted(0, 2 * ROW_BLOCK + 5), starts(1, 3)
        np.testing.assert_allclose(
            index_values(Abs(), u, X), -np.abs(X @ u.T).mean(axis=0), rtol=1e-13
        )
        np.testing.assert_allclose(
            index_gradients(Abs(), u, X), -np.sign(X @ u.T).T @ X / len(X), rtol=1e-11
        )


class TestRough:
    def test_a_rough_gradient_is_that_of_rows_in_float32(self):
        X, u = planted(0, 3000), starts(1, 20)
        rough = index_gradients(ReLU2(), u, X, rough=True)
        narrow = index_gradients(ReLU2(), u.astype(np.float32), X.astype(np.float32))
        assert rough.dtype == X.dtype
        np.testing.assert_array_equal(rough.astype(np.float32), narrow)
        np.testing.assert_allclose(rough, index_gradients(ReLU2(), u, X), rtol=1e-5, atol=1e-6)

    def test_lazy_rows_and_threads_change_no_bit_of_it(self):
        X, u = planted(0, 3 * ROW_BLOCK + 7), starts(1, 20)
        stored = StoredRows(lambda start, stop: X[start:stop], X.shape, X.dtype)
        whole = index_gradients(ReLU2(), u, X, rough=True)
        for rows, threads in ((X, 1), (X, 4), (stored, 2)):
            with threadpool_limits(threads, user_api="blas"):
                np.testing.assert_array_equal(index_gradients(ReLU2(), u, rows, rough=True), whole)

    @pytest.mark.parametrize(
        ("scale", "suits"), [(1.0, True), (1e3, True), (1e8, False), (1e300, False), (1e-8, False)]
    )
    def test_rows_that_float32_can_not_hold_with_room_to_spare_are_climbed_in_full(
        self, scale, suits
    ):
        X = planted(0, 2 * ROW_BLOCK)
        assert may_be_rough(ReLU2(), scale * X) is suits
        X[-1, 0] = 1e7
        assert not may_be_rough(ReLU2(), X)

    def test_an_index_without_formulas_or_of_several_means_is_climbed_in_full(self):
        class Mine(ReLU2):
            formulas = ()

        X = planted(0, 100)
        assert may_be_rough(ReLU2(), X)
        assert not may_be_rough(Mine(), X)
        assert not may_be_rough(ApproxEntropy(), X)
