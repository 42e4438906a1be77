"""Tables that stay in their files: the bits of an array, at a memory that does not grow."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sightline import ProjectionPursuit, SpectralPursuit, resumable
from sightline.datasets import make_planted
from sightline.estimators import tables
from sightline.rows import in_memory
from sightline.sources import DataError, Request, lazy_rows, open_rows, write_npy
from sightline.sources.stored import Groups

NAMES = list("abcdefgh")


@pytest.fixture(scope="module")
def values():
    return make_planted(9001, 8, random_state=0)[0].astype(np.float32)


@pytest.fixture(scope="module")
def files(values, tmp_path_factory):
    zarr = pytest.importorskip("zarr")
    folder = tmp_path_factory.mktemp("tables")
    np.save(folder / "rows.npy", values)
    np.save(folder / "columns.npy", np.asfortranarray(values))
    table = pa.table({name: values[:, i] for i, name in enumerate(NAMES)})
    pq.write_table(table, folder / "t.parquet", row_group_size=2500)
    array = zarr.create_array(folder / "t.zarr", shape=values.shape, chunks=(2000, 3), dtype="f4")
    array[:] = values
    return folder


def sources(folder):
    return {
        "npy": open_rows(folder / "rows.npy"),
        "columns first": open_rows(folder / "columns.npy"),
        "memory map": np.load(folder / "rows.npy", mmap_mode="r"),
        "copy on write": np.load(folder / "rows.npy", mmap_mode="c"),
        "parquet": open_rows(folder / "t.parquet"),
        "zarr": open_rows(folder / "t.zarr"),
        "zarr array": __import__("zarr").open(str(folder / "t.zarr"), mode="r"),
    }


@pytest.mark.parametrize("solver", ["adaptive", "two-step"])
def test_every_source_gives_the_bits_of_an_array(values, files, solver):
    def fitted(X):
        pursuit = ProjectionPursuit(
            solver=solver, n_starts=16, n_steps=3, n_components=2, minimum_angle=1, random_state=0
        )
        return pursuit.fit(X)

    expected = fitted(values)
    for kind, source in sources(files).items():
        found = fitted(source)
        for name in ("components_", "index_values_", "standard_values_", "mean_", "converged_"):
            assert np.array_equal(getattr(found, name), getattr(expected, name)), (kind, name)
        assert np.array_equal(found.transform(source), expected.transform(values)), kind
        if kind == "parquet":
            assert found.feature_names_in_.tolist() == NAMES


def test_what_was_written_to_a_private_map_stays(files):
    mapped = np.load(files / "rows.npy", mmap_mode="c")
    mapped[5] = 7
    assert np.all(in_memory(lazy_rows(mapped))[5] == 7)
    assert np.all(mapped[5] == 7)


def test_part_of_a_map_is_read_where_it_lies(values, files):
    part = np.load(files / "rows.npy", mmap_mode="r")[1000:7000, 2:5]
    assert np.array_equal(in_memory(lazy_rows(part)), values[1000:7000, 2:5])


def test_integers_are_converted_and_identifiers_refused(tmp_path):
    numbers = np.memmap(tmp_path / "numbers", np.int64, "w+", shape=(700, 2))
    numbers[:] = np.arange(1400).reshape(700, 2)
    assert in_memory(lazy_rows(numbers)).dtype == np.float64
    numbers[600, 1] = 2**60
    with pytest.raises(ValueError, match=r"column 1 holds the integer 1152\d+ at row 600"):
        in_memory(lazy_rows(numbers))


def test_what_is_missing_is_named(files, tmp_path):
    table = pq.read_table(files / "t.parquet")
    holes = table.set_column(1, "b", pa.array([1.0] * 3000 + [None] * 6001))
    pq.write_table(holes, tmp_path / "h.parquet", row_group_size=4000)
    with pytest.raises(ValueError, match="column 'b' at row 3000"):
        ProjectionPursuit().fit(open_rows(tmp_path / "h.parquet"))


def test_other_formats_are_converted_once(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,word\n1,2,x\n3,4,y\n5,,z\n")
    with pytest.raises(DataError, match=r"write_npy\(source, 'table.npy'\)"):
        open_rows(tmp_path / "t.csv")
    progress = []
    target = tmp_path / "t.npy"
    with pytest.raises(DataError, match="the value is missing"):
        write_npy(tmp_path / "t.csv", target)
    assert list(tmp_path.iterdir()) == [tmp_path / "t.csv"]
    names = write_npy(tmp_path / "t.csv", target, missing="drop", progress=progress.append)
    assert (names, progress[-1]) == (("a", "b"), 1.0)
    np.testing.assert_array_equal(np.load(target), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(in_memory(open_rows(target)), [[1, 2], [3, 4]])


def test_row_groups_too_large_for_memory_are_refused(files):
    with pytest.raises(DataError, match="a row group of 2500 rows, takes 78 KB, and 3 are held"):
        open_rows(files / "t.parquet", Request(max_memory=200_000))


def test_a_group_is_decoded_once_however_many_wait_for_it():
    decoded = []

    def decode(group):
        decoded.append(group)
        return np.full((10, 1), group)

    groups = Groups(np.arange(0, 60, 10), decode)
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda _: groups(5, 25), range(8)))
    assert decoded.count(0) == decoded.count(1) == decoded.count(2) == 1
    assert [part[:, 0].tolist() for part in parts] == [[0] * 5 + [1] * 10 + [2] * 5] * 8


def test_a_group_that_fails_is_tried_again():
    tries = []

    def decode(group):
        tries.append(group)
        if len(tries) == 1:
            raise OSError("disk")
        return np.zeros((10, 1))

    groups = Groups(np.array([0, 10]), decode)
    with pytest.raises(OSError, match="disk"):
        groups(0, 5)
    assert groups(0, 5).shape == (5, 1)


def test_p_values_need_the_table_in_memory(files):
    with pytest.raises(ValueError, match="significance=9 searches tables as large as X"):
        ProjectionPursuit(significance=9).fit(open_rows(files / "rows.npy"))


def test_other_estimators_read_what_fits_into_memory(files, monkeypatch):
    rows = open_rows(files / "rows.npy")
    expected = SpectralPursuit().fit(np.load(files / "rows.npy"))
    np.testing.assert_array_equal(SpectralPursuit().fit(rows).components_, expected.components_)
    monkeypatch.setattr(tables, "half_of_memory", lambda: 3 * 1000)
    with pytest.raises(ValueError, match="SpectralPursuit works in memory, where 1000 bytes are"):
        SpectralPursuit().fit(rows)


MEASURED = """
import resource, sys
import numpy as np
from sightline import ProjectionPursuit
rows = np.load(sys.argv[1], mmap_mode="r")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
options = {"n_starts": 16, "n_steps": 2, "random_state": 0}
ProjectionPursuit(solver="two-step", **options).fit(rows)
two_step = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
ProjectionPursuit(**options).fit(rows)
print(before, two_step, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_600_mb_are_fitted_in_300(tmp_path):
    """Most of what the process takes before the fit are libraries, about 150 MB."""
    shape = (3_000_000, 50)
    rows = np.lib.format.open_memmap(tmp_path / "t.npy", "w+", np.float32, shape)
    rng = np.random.default_rng(0)
    for first in range(0, shape[0], 100_000):
        rows[first : first + 100_000] = rng.standard_normal((100_000, 50), dtype=np.float32)
    del rows
    command = [sys.executable, "-c", MEASURED, str(tmp_path / "t.npy")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    before, two_step, adaptive = (int(number) / 1024 for number in out.split())
    assert before < 250
    assert two_step - before < 300
    assert adaptive - before < 450  # it holds a sample of 2^25 numbers, 134 MB, at the most


@pytest.fixture
def own_files(files, tmp_path):
    for name in ("rows.npy", "t.parquet"):
        shutil.copy(files / name, tmp_path)
    return tmp_path


def changes(path, how):
    """Return a report of progress that changes a file after the second step."""
    done = []

    def change(*step):
        done.append(step)
        if len(done) == 2:
            how(path)

    return change


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def overwrite(path):
    rows = np.load(path, mmap_mode="r+")
    rows[7] = np.nan
    rows.flush()


@pytest.mark.parametrize("change", [cut, overwrite])
def test_a_file_that_is_changed_while_it_is_read_is_named(own_files, change):
    path = own_files / "rows.npy"
    pursuit = ProjectionPursuit(solver="two-step", n_starts=8, n_steps=4, random_state=0)
    with (
        pytest.raises(DataError, match=r"rows\.npy was changed while it was read.*fit a copy"),
        resumable(progress=changes(path, change)),
    ):
        pursuit.fit(open_rows(path))


def test_a_map_names_the_file_that_was_changed_under_it(own_files):
    path = own_files / "rows.npy"
    pursuit = ProjectionPursuit(solver="two-step", n_starts=8, n_steps=4, random_state=0)
    with (
        pytest.raises(DataError, match=r"rows\.npy was changed"),
        resumable(progress=changes(path, cut)),
    ):
        pursuit.fit(np.load(path, mmap_mode="r"))


def test_a_parquet_file_that_is_written_anew_is_named(own_files):
    path = own_files / "t.parquet"
    rows = open_rows(path)
    pq.write_table(pq.read_table(path).slice(0, 5000), path)
    with pytest.raises(DataError, match=r"t\.parquet was changed"):
        in_memory(rows)


def test_a_file_put_in_the_place_of_a_mapped_one_does_not_matter(values, own_files):
    path = own_files / "rows.npy"
    rows = open_rows(path)
    np.save(own_files / "new.npy", np.zeros((3, 2)))
    (own_files / "new.npy").replace(path)
    np.testing.assert_array_equal(in_memory(rows), values)
    path.unlink()
    np.testing.assert_array_equal(in_memory(rows), values)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc")
def test_blocks_read_here_and_there_leave_no_pages_of_the_map_behind(tmp_path):
    """The system maps pages about those that are read: of scattered blocks, more than is read."""
    mapped = np.lib.format.open_memmap(tmp_path / "wide.npy", "w+", np.float32, (2**18, 64))
    mapped[:] = 1
    mapped.flush()
    del mapped
    rows = open_rows(tmp_path / "wide.npy")
    before = mapped_kilobytes()
    for start in range(0, rows.shape[0], 8 * 512):
        rows.read(start, start + 512)
    assert mapped_kilobytes() - before < 4096


def mapped_kilobytes():
    status = Path("/proc/self/status").read_text()
    return int(status.partition("RssFile:")[2].split()[0])
