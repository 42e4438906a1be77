"""Paths, standard input, and what is no source at all."""

import gzip
import io
import os
import sys

import numpy as np
import pytest

from sightline.sources import DataError, NoInputError, read_table

CSV = b"a,b\n1,2\n5,3\n2,9\n"


@pytest.fixture
def feed(monkeypatch):
    def feed(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))

    return feed


def npy(values):
    buffer = io.BytesIO()
    np.save(buffer, values)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [CSV, gzip.compress(CSV), npy([[1, 2], [5, 3], [2, 9]])],
    ids=["csv", "csv.gz", "npy"],
)
def test_standard_input_in_any_format(content, feed):
    feed(content)
    table = read_table("-")
    np.testing.assert_array_equal(table.values, [[1, 2], [5, 3], [2, 9]])
    assert table.name == "standard input"


def test_empty_standard_input_is_an_error(feed):
    feed(b"")
    with pytest.raises(DataError, match="standard input is empty"):
        read_table("-")


def test_a_named_pipe_is_read(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    child = os.fork()
    if child == 0:
        pipe.write_bytes(CSV)
        os._exit(0)
    assert read_table(pipe).values.shape == (3, 2)
    os.waitpid(child, 0)


@pytest.mark.parametrize("name", ["no.csv", "no.parquet", "no.npy", "no.zarr", "no.h5ad"])
def test_a_missing_file_is_no_input(name, tmp_path):
    with pytest.raises(NoInputError, match="there is no file") as caught:
        read_table(tmp_path / name)
    assert caught.value.exit_code == 66


def test_a_folder_is_no_input(tmp_path):
    with pytest.raises(NoInputError, match="is a folder"):
        read_table(tmp_path)


def test_an_unreadable_file_is_no_input(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    path.write_bytes(CSV)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(NoInputError, match="permissions"):
        read_table(path)


def test_an_error_of_the_system_stays_one(tmp_path, monkeypatch):
    path = tmp_path / "t.npy"
    np.save(path, np.eye(3))

    def fail(*args, **kwargs):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(np, "memmap", fail)
    with pytest.raises(OSError, match="Input/output") as caught:
        read_table(path)
    assert not isinstance(caught.value, NoInputError)


def test_nothing_is_left_in_the_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    path = tmp_path / "t.npy.gz"
    path.write_bytes(gzip.compress(npy(np.eye(4))))
    read_table(path)
    assert list(tmp_path.iterdir()) == [path]
