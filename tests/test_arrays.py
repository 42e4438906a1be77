import re

import array_api_compat
import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from sightline._arrays import (
    as_table,
    check_finite,
    device_of,
    is_foreign,
    is_numpy,
    is_writable,
    like,
    namespace,
    on_host,
    take_rows,
    to_numpy,
    wide_dtype,
)

GRID = np.arange(12.0).reshape(4, 3)


def has_float64(xp):
    return "float64" in xp.__array_namespace_info__().dtypes(kind="real floating")


class TestLibraries:
    def test_a_table_stays_in_its_library_and_dtype(self, xp):
        for dtype in xp.__array_namespace_info__().dtypes(kind="real floating").values():
            table = xp.asarray(GRID, dtype=dtype)
            checked = as_table(table)
            assert namespace(checked) is xp
            assert checked.dtype == dtype
            assert checked is table or np.shares_memory(checked, table)

    def test_integers_and_booleans_become_wide(self, xp):
        integers = xp.asarray(np.arange(6, dtype=np.int32).reshape(3, 2))
        assert as_table(integers).dtype == wide_dtype(integers)
        assert xp.isdtype(as_table(integers).dtype, "real floating")
        booleans = as_table(xp.asarray([[True, False], [False, False]]))
        assert to_numpy(booleans).tolist() == [[1.0, 0.0], [0.0, 0.0]]

    def test_complex_is_an_error_in_every_library(self, xp):
        kinds = xp.__array_namespace_info__().dtypes(kind="complex floating")
        table = xp.asarray(GRID + 1j, dtype=kinds["complex64"])
        with pytest.raises(ValueError, match=r"T holds complex numbers \(dtype .*complex64"):
            as_table(table, "T")

    def test_sums_are_wide_wherever_the_device_can(self, xp):
        expected = xp.float64 if has_float64(xp) else xp.float32
        for values in (xp.asarray([1.0], dtype=xp.float32), xp.asarray([1])):
            assert wide_dtype(values) == expected

    def test_a_device_without_float64_stays_in_float32(self):
        xp = array_api_strict
        device = xp.Device("no_float64")
        integers = xp.asarray([[1, 2], [3, 4]], device=device)
        assert wide_dtype(integers) == xp.float32
        assert as_table(integers).dtype == xp.float32
        assert device_of(as_table(integers)) == device

    def test_what_is_numpy_and_what_is_foreign(self, xp):
        array = xp.asarray([1.0])
        assert is_numpy(array) == (xp is namespace(GRID))
        assert is_foreign(array) != is_numpy(array)
        for host in (GRID, np.float64(1), [1.0], None, pd.DataFrame(GRID), pl.DataFrame(GRID)):
            assert not is_foreign(host)

    def test_arrays_of_the_host_are_on_it_and_others_are_not(self, xp, monkeypatch):
        assert on_host(xp.asarray([1.0]))
        monkeypatch.setattr(array_api_compat, "is_cupy_array", lambda x: True)
        assert not on_host(xp.asarray([1.0]))

    def test_what_claims_to_be_writable_is(self, xp):
        array = xp.zeros(2)
        if is_writable(array):
            array[0] = 1.0
            assert float(array[0]) == 1.0
        else:
            with pytest.raises(TypeError):
                array[0] = 1.0

    def test_to_the_host_and_back(self, xp):
        array = xp.asarray(GRID, dtype=xp.float32)
        there = like(to_numpy(array), array)
        assert type(to_numpy(array)) is np.ndarray
        assert (namespace(there), there.dtype) == (xp, xp.float32)
        assert device_of(there) == device_of(array)
        np.testing.assert_array_equal(to_numpy(there), GRID)

    def test_a_copy_is_made_of_whatever_the_host_holds(self, xp):
        reference = xp.asarray([0.0], dtype=xp.float32)
        frozen = GRID.astype(np.float32)
        frozen.setflags(write=False)
        for host in (frozen, frozen[::-1], frozen.T, np.float32(5.0), [1.0, 2.0]):
            copy = to_numpy(like(host, reference))
            assert copy.shape == np.shape(host)
            np.testing.assert_array_equal(copy, host)
            assert not np.shares_memory(copy, frozen)

    def test_like_takes_another_dtype(self, xp):
        places = like([2, 0], xp.asarray([0.5]), dtype=xp.int32)
        assert places.dtype == xp.int32

    @given(places=st.lists(st.integers(0, 3), max_size=6))
    def test_rows_are_taken_in_the_order_asked_for(self, xp, places):
        positions = np.asarray(places, dtype=np.int64)
        positions.setflags(write=False)
        taken = take_rows(xp.asarray(GRID), positions)
        assert namespace(taken) is xp
        np.testing.assert_array_equal(to_numpy(taken), GRID[places])

    def test_taken_rows_are_a_copy(self):
        table = GRID.copy()
        take_rows(table, np.array([0, 1]))[:] = -1
        np.testing.assert_array_equal(table, GRID)

    def test_torch_says_where_its_memory_is(self):
        torch = pytest.importorskip("torch")
        assert not on_host(torch.empty(1, device="meta"))

    def test_torch_gradients_are_left_behind(self):
        torch = pytest.importorskip("torch")
        tracked = torch.ones(2, 2, requires_grad=True)
        np.testing.assert_array_equal(to_numpy(tracked), np.ones((2, 2)))

    def test_cupy_arrays_come_home_by_get(self, monkeypatch):
        class OnTheCard:
            def get(self):
                return GRID

        monkeypatch.setattr(array_api_compat, "is_cupy_array", lambda x: type(x) is OnTheCard)
        assert to_numpy(OnTheCard()) is GRID


class TestTables:
    @pytest.mark.parametrize(
        ("given_dtype", "dtype"),
        [
            ("float16", "float32"),
            ("float32", "float32"),
            (">f4", "float32"),
            ("float64", "float64"),
            (">f8", "float64"),
            ("longdouble", "float64"),
            ("int8", "float64"),
            ("uint64", "float64"),
            ("bool", "float64"),
        ],
    )
    def test_dtypes_of_numpy(self, given_dtype, dtype):
        table = as_table(GRID.astype(given_dtype))
        assert table.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(table, GRID.astype(given_dtype).astype(float))

    def test_half_precision_of_torch(self):
        torch = pytest.importorskip("torch")
        for half in (torch.float16, torch.bfloat16):
            assert as_table(torch.ones(2, 2, dtype=half)).dtype == torch.float32

    @pytest.mark.parametrize(
        "table",
        [
            GRID.tolist(),
            tuple(map(tuple, GRID)),
            pd.DataFrame(GRID),
            pl.DataFrame(GRID),
            np.ma.array(GRID),
        ],
        ids=lambda table: type(table).__name__,
    )
    def test_other_containers_become_plain_arrays(self, table):
        checked = as_table(table)
        assert type(checked) is np.ndarray
        np.testing.assert_array_equal(checked, GRID)

    @pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
    def test_a_matrix_loses_its_own_multiplication(self):
        assert type(as_table(np.matrix(GRID))) is np.ndarray

    def test_layouts_are_read_where_they_lie(self, tmp_path):
        frozen = GRID.copy()
        frozen.setflags(write=False)
        np.save(tmp_path / "grid.npy", GRID)
        mapped = np.load(tmp_path / "grid.npy", mmap_mode="r")
        for table in (
            frozen,
            np.asfortranarray(GRID),
            GRID[::-1],
            GRID.repeat(2, 1)[:, ::2],
            mapped,
        ):
            checked = as_table(table)
            assert np.shares_memory(checked, table)
            np.testing.assert_array_equal(checked, table)

    @pytest.mark.parametrize(
        ("table", "found"),
        [
            (np.array([["1", "2"]]), "dtype <U1"),
            (np.array([["a", 1]], dtype=object), "dtype object"),
            ([[10**30, 1]], "dtype object"),
            (np.array([["2020-01-01"]], dtype="datetime64[D]"), r"dtype datetime64\[D\]"),
            (np.array([[3]], dtype="timedelta64[s]"), r"dtype timedelta64\[s\]"),
            (pd.DataFrame({"a": [1.0], "b": ["x"]}), "dtype object"),
            (scipy.sparse.csr_array(GRID), r"sparse csr_array; pass T\.toarray\(\)"),
        ],
    )
    def test_what_holds_no_real_numbers_is_a_type_error(self, table, found):
        with pytest.raises(TypeError, match=f"T (has|is a) {found}"):
            as_table(table, "T")

    @pytest.mark.parametrize(
        ("table", "found"),
        [
            (np.arange(3.0), r"1 dimension\(s\), shape \(3,\); .* Use T\.reshape\(-1, 1\)"),
            (np.ones((2, 2, 2)), r"3 dimension\(s\), shape \(2, 2, 2\)"),
            (None, r"0 dimension\(s\)"),
            ("rows", r"0 dimension\(s\)"),
            (np.ones((0, 3)), r"0 row\(s\) and 3 column\(s\); at least 1 row"),
            (np.ones((3, 0)), r"3 row\(s\) and 0 column\(s\)"),
            (np.ones((1, 0)) + 1j, "complex"),
            ([[1.0, 2.0], [3.0]], "not a table: .*inhomogeneous"),
            (np.ma.array(GRID, mask=GRID == 5), r"masked at 1 place\(s\)"),
            (np.full((1, 1), np.longdouble("1e400")), "infinity"),
        ],
    )
    def test_what_is_no_table_is_a_value_error(self, table, found):
        with pytest.raises(ValueError, match=f"T .*{found}"):
            as_table(table, "T")

    def test_the_least_number_of_rows_is_the_callers(self):
        assert as_table(GRID, minimum_rows=4) is not None
        with pytest.raises(ValueError, match=r"X has 4 row\(s\).*at least 5 row\(s\)"):
            as_table(GRID, minimum_rows=5)


class TestFinite:
    @given(
        bad=st.dictionaries(
            st.tuples(st.integers(0, 3), st.integers(0, 2)),
            st.sampled_from([np.nan, np.inf, -np.inf]),
            min_size=1,
        )
    )
    def test_the_first_bad_place_is_named(self, xp, bad):
        table = GRID.copy()
        for place, value in bad.items():
            table[place] = value
        row, column = min(bad, key=lambda place: (place[1], place[0]))
        what = "NaN" if np.isnan(bad[row, column]) else "infinity"
        columns = len({column for _, column in bad})
        message = (
            f"T contains {what}: column {column} at row {row} "
            f"({len(bad)} such value(s) in {columns} column(s))."
        )
        with pytest.raises(ValueError, match=re.escape(message)):
            as_table(xp.asarray(table), "T")

    def test_columns_are_named_where_they_have_names(self):
        table = GRID.copy()
        table[2, 1] = np.nan
        with pytest.raises(ValueError, match="column 'width' at row 2"):
            check_finite(table, columns=["length", "width", "height"])

    @pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, -1)])
    def test_huge_values_whose_sum_overflows_are_finite(self, xp, signs):
        largest = 1e308 if has_float64(xp) else 1e38
        table = xp.asarray(np.full((8, 2), largest) * signs)
        np.testing.assert_array_equal(to_numpy(as_table(table)), to_numpy(table))
        with pytest.raises(ValueError, match="NaN: column 1 at row 0"):
            as_table(xp.asarray(np.array([[largest, np.nan], [largest, 0.0]])))

    def test_the_input_is_left_as_it_was(self):
        table = np.array([[1.0, np.inf]])
        with pytest.raises(ValueError, match="infinity"):
            as_table(table)
        assert table.tolist() == [[1.0, np.inf]]
