"""Arrays in memory, in npy and npz files, in Zarr stores."""

import numpy as np
import pytest

from sightline._arrays import to_numpy
from sightline.sources import DataError, read_table


@pytest.fixture
def values():
    return np.random.default_rng(0).standard_normal((40, 3))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["f8", "f4", ">f8", "f2", "i4", "u1"])
def test_npy_files_of_all_numbers(dtype, order, values, tmp_path):
    stored = np.asarray(values * 50 + 128, dtype=dtype, order=order)
    np.save(tmp_path / "t.npy", stored)
    table = read_table(tmp_path / "t.npy")
    assert table.columns == ("x0", "x1", "x2")
    assert table.values.dtype == (np.float32 if dtype in {"f4", "f2"} else np.float64)
    np.testing.assert_array_equal(table.values, stored)


def test_an_array_in_memory(values):
    np.testing.assert_array_equal(read_table(values).values, values)
    np.testing.assert_array_equal(
        read_table(values, columns=("x2", "x0")).values, values[:, [2, 0]]
    )


def test_arrays_of_other_libraries(xp, values):
    theirs = xp.asarray(values)  # float32 where the library has no more
    np.testing.assert_array_equal(read_table(theirs).values, to_numpy(theirs))


def test_the_table_in_an_npz_is_found(values, tmp_path):
    labels = np.arange(40) % 2
    np.savez(tmp_path / "one.npz", data=values, y=labels)
    np.savez(tmp_path / "two.npz", X=values, other=values[:, :2], y=labels)
    for name in ("one.npz", "two.npz"):
        table = read_table(tmp_path / name, label_column="y")
        np.testing.assert_array_equal(table.values, values)
        assert table.labels.tolist() == labels.tolist()
    table = read_table(tmp_path / "two.npz", array="other")
    assert table.values.shape == (40, 2)


@pytest.mark.parametrize(
    ("arrays", "options", "words"),
    [
        ({"a": np.eye(3), "b": np.eye(3)}, {}, r"2 tables .*Name one with --array"),
        ({"a": np.arange(3)}, {}, "0 tables"),
        ({"a": np.eye(3)}, {"array": "b"}, r"no array 'b'. It has a \(3, 3\)"),
        ({"a": np.eye(3)}, {"label_column": "y"}, "no array 'y'"),
        ({"a": np.eye(3), "y": np.arange(4)}, {"label_column": "y"}, "3 rows and 4 labels"),
        ({"a": np.array([[1, None]])}, {}, "pickled objects"),
    ],
)
def test_what_an_npz_lacks_is_said(arrays, options, words, tmp_path):
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(DataError, match=words):
        read_table(tmp_path / "t.npz", **options)


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.arange(3.0), "shape .3,.; a table has rows and columns"),
        (np.array([["a", "b"]]), "array of <U1"),
        (np.array([[1, 2**53 + 1], [3, 4]]), "column 'x1', row 0: the whole number"),
        (np.array([[1.0, np.nan], [3, 4]]), "row 0: the value is missing"),
        (np.array([[1.0, 2], [3, -np.inf]]), "column 'x1', row 1: the value is infinite"),
    ],
)
def test_what_is_wrong_with_an_array_is_said(array, words):
    with pytest.raises(DataError, match=words):
        read_table(array)


def test_an_array_has_no_label_column(values):
    with pytest.raises(DataError, match="has no names at all"):
        read_table(values, label_column="y")


def test_zarr_arrays_and_groups(values, tmp_path):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(tmp_path / "a.zarr", shape=(40, 3), chunks=(7, 2), dtype="f8")
    array[:] = values
    np.testing.assert_array_equal(read_table(tmp_path / "a.zarr").values, values)
    group = zarr.create_group(tmp_path / "g.zarr")
    group.create_array("X", shape=(40, 3), dtype="f4")[:] = values
    group.create_array("Z", shape=(4, 3), dtype="f4")
    np.testing.assert_array_equal(read_table(tmp_path / "g.zarr").values, np.float32(values))
    with pytest.raises(DataError, match="no array 'Y'"):
        read_table(tmp_path / "g.zarr", array="Y")


def test_without_zarr_the_extra_is_named(values, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "zarr", None)
    (tmp_path / "t.zarr").mkdir()
    with pytest.raises(DataError, match=r"Install sightline\[zarr\]"):
        read_table(tmp_path / "t.zarr")


def test_outlier_sets_as_they_are_published(data_home):
    """ADBench's npz files: arrays X and y, 1 for an anomaly; glass has 214 rows, 9 anomalies."""
    table = read_table(data_home / "adbench" / "14_glass.npz", label_column="y")
    assert table.values.shape == (214, 7)
    assert sum(table.labels) == 9
