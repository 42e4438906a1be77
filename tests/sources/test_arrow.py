"""Tables with types: the same numbers from every library and file, and what has no number."""

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from sightline.sources import DataError, read_table

COLUMNS = {
    "small": np.array([3, -1, 2], dtype=np.int8),
    "single": np.array([0.5, -1.25, 7], dtype=np.float32),
    "double": np.array([1e300, -1e-300, 0.1]),
    "text": ["a", "b", "c"],
    "flag": [True, False, True],
}

NUMBERS = np.column_stack([COLUMNS["small"], COLUMNS["single"], COLUMNS["double"]])


def parquet(path, table):
    pa.parquet.write_table(table, path / "t.parquet", row_group_size=2)
    return path / "t.parquet"


def feather(path, table):
    pa.feather.write_feather(table, str(path / "t.feather"))
    return path / "t.feather"


def arrow_stream(path, table):
    with pa.ipc.new_stream(path / "t.arrow", table.schema) as file:
        file.write_table(table)
    return path / "t.arrow"


FORMS = {
    "parquet": parquet,
    "feather": feather,
    "arrow stream": arrow_stream,
    "arrow": lambda path, table: table,
    "record batch reader": lambda path, table: table.to_reader(),
    "pandas": lambda path, table: table.to_pandas(),
    "pandas, own index": lambda path, table: table.to_pandas().set_index(pd.Index(list("xyz"))),
    "polars": lambda path, table: pl.from_arrow(table),
    "polars, lazy": lambda path, table: pl.from_arrow(table).lazy(),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_numbers_from_every_form(form, tmp_path):
    table = read_table(FORMS[form](tmp_path, pa.table(COLUMNS)))
    assert table.columns == ("small", "single", "double")
    np.testing.assert_array_equal(table.values, NUMBERS)
    assert {"text": "text", "flag": "yes or no"}.items() <= dict(table.left_out).items()


@pytest.mark.parametrize("form", ["parquet", "feather", "pandas", "polars"])
def test_labels_come_along(form, tmp_path):
    source = FORMS[form](tmp_path, pa.table(COLUMNS))
    assert read_table(source, label_column="text").labels.tolist() == ["a", "b", "c"]
    assert read_table(source, label_column="small").columns == ("single", "double")


def test_floats_of_half_the_width_stay_narrow():
    frame = pa.table({"a": np.float32([1, 2, 5]), "b": np.float16([1, 3, 2])})
    assert read_table(frame).values.dtype == np.float32


def test_decimals_are_numbers():
    cells = [decimal.Decimal("1.25"), decimal.Decimal("-3.5"), decimal.Decimal("2.25")]
    assert read_table(pa.table({"a": cells})).values[:, 0].tolist() == [1.25, -3.5, 2.25]


def test_a_flag_is_a_number_when_asked_for():
    table = read_table(pa.table(COLUMNS), columns=("flag", "double"))
    assert table.values[:, 0].tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([dt.date(2024, 1, day) for day in (1, 2, 3)], "dates"),
        ([dt.timedelta(day) for day in (1, 2, 3)], "dates"),
        (pa.array(["a", "b", "a"]).dictionary_encode(), "text"),
        (pa.array([None, None, None]), "nothing"),
        ([[1], [2], [3]], "list"),
    ],
)
def test_what_is_no_number_is_named(cells, kind):
    assert read_table(pa.table({"a": [1, 5, 2], "b": cells})).left_out["b"].startswith(kind)


def test_missing_values_are_found_however_they_are_stored():
    frame = pa.table({"a": [1.0, float("nan"), 3, 9], "b": pa.array([1, 2, None, 7])})
    with pytest.raises(DataError, match="row 1: the value is missing; by column: 'a' 1, 'b' 1"):
        read_table(frame)
    assert read_table(frame, missing="drop").rows.tolist() == [0, 3]


def test_a_whole_number_beyond_a_float_has_its_place():
    frame = pa.table({"a": [1, 2, 4], "b": pa.array([None, 5, 2**53 + 1])})
    with pytest.raises(DataError, match="column 'b', row 2: the whole number 9007199254740993"):
        read_table(frame)
    unsigned = pa.table({"b": pa.array([1, 2**64 - 1, 3], pa.uint64())})
    with pytest.raises(DataError, match="row 1: the whole number 18446744073709551615"):
        read_table(unsigned)
    assert read_table(pa.table({"b": [1, 2**53, 5]})).values[1, 0] == 2**53


def test_infinity_has_its_place():
    with pytest.raises(DataError, match="column 'a', row 1: the value is infinite"):
        read_table(pa.table({"a": [1.0, float("inf"), 3.0]}))


def test_columns_that_share_a_name_are_refused():
    with pytest.raises(DataError, match="2 columns are called 'a'"):
        read_table(pa.table([[1.0, 2.0], [3.0, 4.0]], names=["a", "a"]))


def test_a_pandas_column_of_two_kinds_is_refused():
    with pytest.raises(DataError, match="no table of plain columns"):
        read_table(pd.DataFrame({"a": [1, "x", 2.5]}))


def test_only_wanted_columns_are_decoded(tmp_path):
    """A wanted column is small; the whole file would be over the limit."""
    rng = np.random.default_rng(0)
    wide = {f"c{i}": rng.standard_normal(200_000) for i in range(20)}
    pa.parquet.write_table(pa.table(wide), tmp_path / "t.parquet")
    with pytest.raises(DataError, match="limit"):
        read_table(tmp_path / "t.parquet", max_memory=16 * 2**20)
    table = read_table(tmp_path / "t.parquet", columns=("c3",), max_memory=16 * 2**20)
    np.testing.assert_array_equal(table.values[:, 0], wide["c3"])


def test_progress_runs_to_the_end(tmp_path):
    parts = []
    pa.parquet.write_table(pa.table({"a": np.arange(200_000) % 7}), tmp_path / "t.parquet")
    read_table(tmp_path / "t.parquet", progress=parts.append)
    assert len(parts) > 1
    assert parts == sorted(parts)
    assert parts[-1] == 1.0
