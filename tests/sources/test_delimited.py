"""Text tables: what is read, and the place and remedy where it can't be."""

import bz2
import gzip
import lzma

import numpy as np
import pytest

from sightline.sources import DataError, read_table


@pytest.fixture
def write(tmp_path):
    def write(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


PLAIN = "a,b,c\n1,2.5,-3e2\n4,5,6\n-7,8.25,.5\n"

VALUES = [[1, 2.5, -300], [4, 5, 6], [-7, 8.25, 0.5]]


WRITTEN = {
    "t.csv": PLAIN.encode(),
    "bom.csv": b"\xef\xbb\xbf" + PLAIN.encode(),
    "crlf.csv": PLAIN.replace("\n", "\r\n").encode(),
    "no_end.csv": PLAIN.rstrip("\n").encode(),
    "blanks.csv": PLAIN.replace(",", " , ").encode(),
    "quotes.csv": PLAIN.replace("2.5", '"2.5"').encode(),
    "t.tsv": PLAIN.replace(",", "\t").encode(),
    "semicolons.txt": PLAIN.replace(",", ";").encode(),
    "bars": PLAIN.replace(",", "|").encode(),
    "t.csv.gz": gzip.compress(PLAIN.encode()),
    "t.csv.xz": lzma.compress(PLAIN.encode()),
    "t.csv.bz2": bz2.compress(PLAIN.encode()),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_the_same_numbers_however_they_are_written(name, write):
    table = read_table(write(WRITTEN[name], name))
    assert table.columns == ("a", "b", "c")
    np.testing.assert_array_equal(table.values, VALUES)
    assert table.left_out_line == ""


def test_every_float_comes_back_exactly(write):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((500, 3)) * 10.0 ** rng.integers(-300, 300, (500, 3))
    text = "a,b,c\n" + "\n".join(",".join(map(repr, row)) for row in values.tolist())
    np.testing.assert_array_equal(read_table(write(text)).values, values)


def test_blocks_join_without_a_seam(write):
    """About 5 MB of text: several blocks, the last one short."""
    rows = np.column_stack([np.arange(260_000) % 977, np.arange(260_000) / 7])
    text = "a,b\n" + "\n".join(f"{int(a)},{b!r}" for a, b in rows.tolist())
    table = read_table(write(text), columns=("a", "b"))
    np.testing.assert_array_equal(table.values, rows)
    np.testing.assert_array_equal(table.rows, np.arange(260_000))


def test_a_stray_cell_in_a_late_block_has_its_line(write):
    lines = ["a,b"] + [f"{i},{i / 3!r}" for i in range(260_000)]
    lines[259_000] = "17,oops"
    with pytest.raises(DataError, match=r"column 'b', row 258999 \(line 259001\): 'oops'"):
        read_table(write("\n".join(lines)))


def test_text_dates_identifiers_and_constants_are_left_out_and_named(write):
    text = "id,when,who,rank,v,w,same\n" + "".join(
        f"{i + 100},2024-01-{i + 1:02},name {i},{i},{i * i},{-i * i},4\n" for i in range(9)
    )
    table = read_table(write(text))
    assert table.columns == ("v", "w")
    assert table.left_out_line == (
        "Left out: 'when' (dates), 'who' (text), 'id' (identifier), 'rank' (identifier), "
        "'same' (constant)."
    )


def test_columns_asked_for_are_kept_in_that_order(write):
    text = "id,v,same\n" + "".join(f"{i},{i * i},4\n" for i in range(9))
    table = read_table(write(text), columns=("same", "id"))
    assert table.columns == ("same", "id")
    np.testing.assert_array_equal(table.values[:, 1], np.arange(9))


def test_a_name_alone_makes_no_identifier(write):
    """Repeated or fractional values do not name rows."""
    text = "user_id,session_key,v\n1,0.5,3\n1,1.5,9\n2,2.25,4\n"
    assert read_table(write(text)).columns == ("user_id", "session_key", "v")
    text = "user_id,v\n17,3\n5,9\n11,4\n"
    assert read_table(write(text)).columns == ("v",)


def test_labels_are_kept_apart(write):
    table = read_table(write("v,kind\n1,x \n3, y\n2,\n"), label_column="kind")
    assert table.labels.tolist() == ["x", "y", None]
    assert table.columns == ("v",)
    assert table.left_out == {}


def test_dropped_columns_are_not_read(write):
    assert read_table(write("a,b\n1,oops\n2,3\n5,4\n"), drop=("b",)).columns == ("a",)


MISSING = "a,b,c\n1,2,3\nNA,4,\n5,,7\n2,5,2\n-1,n/a,NaN\n"


def test_missing_values_are_counted_by_column(write):
    with pytest.raises(DataError, match=r"row 1 \(line 3\).*'a' 1, 'b' 2, 'c' 2.*3 of 5 rows"):
        read_table(write(MISSING))


def test_missing_rows_are_dropped_with_their_labels(write):
    path = write(MISSING.replace("\n", ",k\n").replace("c,k", "c,l"))
    table = read_table(path, missing="drop", label_column="l")
    np.testing.assert_array_equal(table.values, [[1, 2, 3], [2, 5, 2]])
    np.testing.assert_array_equal(table.rows, [0, 3])
    assert table.labels.tolist() == ["k", "k"]
    assert "Dropped 3 rows" in table.notes[0]


def test_missing_values_become_the_median(write):
    table = read_table(write(MISSING), missing="median")
    np.testing.assert_array_equal(table.values[1], [1.5, 4, 3])
    np.testing.assert_array_equal(table.values[:, 1], [2, 4, 4, 5, 4])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("\n\n \n", "is empty"),
        ("a,b\n", "no rows"),
        ("a,a\n1,2\n", "line 1: 2 columns are called 'a', in places 1, 2"),
        (",a\n1,2\n", "line 1: column 1 of 2 has no name"),
        ("1,2\n3,4\n", "line 1: all column names are numbers.*--no-header"),
        ("a,b\n1,2\n3\n", "line 3 has 1 value, the header has 2: '3'"),
        ("a,b\n1,2\n3,4,5\n", "line 3 has 3 values"),
        ("a,b\n1,2\n3,x4\n5,6\n", r"column 'b', row 1 \(line 3\): 'x4' is no number"),
        ("a;b\n1;2\n3;4\n5;6,5\n", "'6,5' is no number.*decimal comma"),
        ("a,b\n1,2\n3,1e400\n5,6\n", r"column 'b', row 1 \(line 3\): the value is infinite"),
        ("a,b\n1,2\n3,-inf\n5,6\n", r"column 'b', row 1 \(line 3\): the value is infinite"),
        (f"a,b\n1,2\n3,{'9' * 30}\n", r"column 'b', row 1 \(line 3\): the whole number 9999"),
        ("a,b\n1,\n2,\n", "column 'b' holds no value at all"),
        ("a,b\n1,\n,2\n", None),
        ("a,b\nx,y\nz,w\n", "no column of numbers.*'a' .text., 'b' .text."),
        ("a,b\n1,2\n2,2\n3,2\n", "shows anything: 'a' .identifier., 'b' .constant."),
        ('a,b\n1,"2\n3,4\n', "quotation mark"),
        ('a,"b\n1,2\n', "line 1|quotation"),
        (b"a,b\n1,\x00\n", "line 2 holds a zero byte"),
        ("größe,b\n1,2\n".encode("latin-1"), "line 1, column 1: byte 0xf6 .*--encoding latin-1"),
        ("a,b\n1,2\n3,ä\n".encode("latin-1"), "line 3, column 2: byte 0xe4"),
        ("a,b\n1,2\n".encode("utf-16"), "UTF-16"),
        (b"PAR1" * 5, "a Parquet file"),
        (b"PK\x03\x04" + b"0" * 50, "a zip file"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(content, words, write):
    if words is None:
        with pytest.raises(DataError, match="every row has a missing value"):
            read_table(write(content), missing="drop")
        return
    with pytest.raises(DataError, match=words):
        read_table(write(content))


def test_bytes_that_are_no_text_far_down_have_their_line(write):
    """Beyond what is looked at to find the header."""
    lines = [b"a,b"] + [b"%d,word" % (i * i) for i in range(200_000)]
    lines[150_000] = "1,grün".encode("latin-1")
    path = write(b"\n".join(lines))
    assert read_table(path).columns == ("a",)
    with pytest.raises(DataError, match=r"row 149999 \(line 150001\): byte 0xfc"):
        read_table(path, label_column="b")


def test_another_encoding_is_read_when_named(write):
    path = write("größe,b\n1,2\n4,5\n2,2\n".encode("latin-1"))
    assert read_table(path, encoding="latin-1").columns == ("größe", "b")
    with pytest.raises(DataError, match="encoding='klingon' is unknown"):
        read_table(path, encoding="klingon")


def test_a_table_without_header_is_read_when_said(write):
    table = read_table(write("1,2\n3,4.5\n5,1\n"), header=False)
    assert table.columns == ("x0", "x1")
    assert table.values.shape == (3, 2)


@pytest.mark.parametrize("option", ["columns", "drop", "label_column"])
def test_an_unknown_column_is_an_error_with_a_guess(option, write):
    asked = "palmitc" if option == "label_column" else ("palmitc",)
    with pytest.raises(DataError, match=r"no column 'palmitc'. Did you mean 'palmitic'\?"):
        read_table(write("palmitic,b\n1,2\n"), **{option: asked})


def test_text_asked_for_as_numbers_is_an_error(write):
    with pytest.raises(DataError, match="column 'b' holds text, not numbers"):
        read_table(write("a,b\n1,x\n2,y\n"), columns=("a", "b"))


def test_progress_runs_to_the_end(write):
    parts = []
    read_table(write("a,b\n" + "1,2\n3,5\n" * 600_000), progress=parts.append)
    assert len(parts) > 1
    assert parts == sorted(parts)
    assert parts[-1] == 1.0
