"""Tables in passes: a sample that is uniform, and blocks that are the rows."""

import resource

import numpy as np
import pandas as pd
import pytest

from sightline.sources import (
    DataError,
    Request,
    TooLargeError,
    read_table,
    sample_table,
    table_blocks,
)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """200,000 rows: several blocks of any format."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.standard_normal(200_000), "b": np.arange(200_000) % 11})
    frame["id"] = np.arange(200_000) + 5
    frame["kind"] = np.array(["x", "y"])[np.arange(200_000) % 2]
    path = tmp_path_factory.mktemp("passes") / "t.parquet"
    frame.to_parquet(path)
    return path


def test_blocks_are_the_rows(path):
    whole = read_table(path, label_column="kind", columns=("a", "b"))
    blocks = list(table_blocks(path, Request(label_column="kind", columns=("a", "b"))))
    assert len(blocks) > 1
    np.testing.assert_array_equal(np.concatenate([b.values for b in blocks]), whole.values)
    np.testing.assert_array_equal(np.concatenate([b.rows for b in blocks]), whole.rows)
    np.testing.assert_array_equal(np.concatenate([b.labels for b in blocks]), whole.labels)


def test_a_sample_holds_rows_of_the_table(path):
    whole = read_table(path, label_column="kind")
    parts = []
    table, total = sample_table(
        path,
        Request(label_column="kind"),
        size=500,
        rng=np.random.default_rng(1),
        progress=parts.append,
    )
    assert total == 200_000
    assert table.columns == ("a", "b")
    assert table.left_out["id"] == "identifier"
    assert np.unique(table.rows).size == 500
    np.testing.assert_array_equal(table.values, whole.values[table.rows])
    np.testing.assert_array_equal(table.labels, whole.labels[table.rows])
    assert parts == sorted(parts)
    assert parts[-1] == 1.0


def test_every_row_is_as_likely(path):
    """Positions of 2000 rows over ten equal parts: chi-square with 9 degrees of freedom.

    Five fixed seeds; each exceeds 27.9 with probability 0.001, so the five together 0.005.
    """
    for seed in range(5):
        rng = np.random.default_rng(seed)
        table, _ = sample_table(path, Request(columns=("a",)), size=2000, rng=rng)
        counts = np.bincount(table.rows // 20_000, minlength=10)
        assert np.sum((counts - 200) ** 2 / 200) < 27.9


def test_a_small_table_is_its_own_sample():
    values = np.random.default_rng(0).standard_normal((7, 2))
    table, total = sample_table(values, Request(), size=50, rng=np.random.default_rng(0))
    assert total == 7
    np.testing.assert_array_equal(table.values, values)


def test_missing_values_in_blocks(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n,3\n4,5\n9,1\n")
    with pytest.raises(DataError, match=r"column 'a', row 1 \(line 3\): the value is missing"):
        list(table_blocks(path, Request()))
    (block,) = table_blocks(path, Request(missing="drop"))
    assert block.rows.tolist() == [0, 2, 3]
    with pytest.raises(ValueError, match="missing, for a table read in blocks"):
        list(table_blocks(path, Request(missing="median")))
    table, total = sample_table(
        path, Request(missing="drop"), size=9, rng=np.random.default_rng(0)
    )
    assert (total, table.notes) == (3, ("Dropped 1 rows with missing values ('a' 1).",))
    path.write_text("a,b\n,2\n1,\n")
    with pytest.raises(DataError, match="no complete rows"):
        sample_table(path, Request(missing="drop"), size=3, rng=np.random.default_rng(0))


def test_missing_values_of_all_blocks_are_counted(tmp_path):
    values = np.ones((200_000, 3))
    values[[5, 70_000, 199_999], 1] = np.nan
    values[70_000, 2] = np.nan
    np.save(tmp_path / "t.npy", values)
    with pytest.raises(DataError, match=r"'x1', row 5: .* by column: 'x1' 3, 'x2' 1\..* 3 rows"):
        for _ in table_blocks(tmp_path / "t.npy", Request()):
            pass


def test_blocks_are_held_to_the_limit_of_memory(path):
    """The ceiling is there while a block is waited for, and gone afterwards."""
    before = resource.getrlimit(resource.RLIMIT_DATA)
    blocks = table_blocks(path, Request(max_memory=2**24))
    next(blocks)
    assert resource.getrlimit(resource.RLIMIT_DATA) != before
    blocks.close()
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


@pytest.mark.parametrize("kind", ["zarr", "h5ad"])
def test_arrays_larger_than_the_limit_are_read_in_blocks(kind, tmp_path):
    values = np.random.default_rng(0).standard_normal((40_000, 5))
    name = tmp_path / f"t.{kind}"
    if kind == "zarr":
        zarr = pytest.importorskip("zarr")
        store = zarr.create_array(name, shape=values.shape, dtype=values.dtype, chunks=(1000, 5))
        store[:] = values
    else:
        with pytest.importorskip("h5py").File(name, "w") as file:
            file.create_dataset("X", data=values, chunks=(1000, 5))
    request = Request(max_memory=2**20)
    with pytest.raises(TooLargeError):
        read_table(name, request)
    table, total = sample_table(name, request, size=100, rng=np.random.default_rng(0))
    assert total == 40_000
    np.testing.assert_array_equal(table.values, values[table.rows])
    parts = [block.values for block in table_blocks(name, request)]
    np.testing.assert_array_equal(np.concatenate(parts), values)


def test_progress_in_a_text_file(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1,2\n3,5\n4,9\n")
    parts = []
    sample_table(path, Request(), size=2, rng=np.random.default_rng(0), progress=parts.append)
    assert parts == [1.0]


def test_rows_are_named_where_some_are_left_out(tmp_path):
    assert read_table(np.array([[1.0, 2], [3, 5], [2, 2]])).row_names is None
    (tmp_path / "t.csv").write_text("a,b\n1,2\n,3\n4,5\n9,1\n")
    assert read_table(tmp_path / "t.csv", missing="drop").row_names == [0, 2, 3]
