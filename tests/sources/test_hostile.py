"""Broken and hostile files of every format: a table of finite numbers or one named error.

Each format starts from a sound file that is then cut, flipped, overwritten, stretched and spliced
in seeded ways, and from files made to lie about their size. Reading is held to 64 MB.
"""

import gzip
import io
import lzma
import resource
import struct
import zipfile

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from sightline.sources import DataError, NoInputError, read_table

LIMIT = 64 * 2**20

MUTANTS = 60
"""Damaged files a format."""


def frame():
    rng = np.random.default_rng(0)
    values = {f"c{i}": rng.standard_normal(200) for i in range(5)}
    return pd.DataFrame(values | {"kind": ["a", "b"] * 100, "count": rng.integers(0, 90, 200)})


def csv_bytes():
    return frame().to_csv(index=False).encode()


def parquet_bytes(compression="snappy"):
    buffer = io.BytesIO()
    table = pa.Table.from_pandas(frame(), preserve_index=False)
    pa.parquet.write_table(table, buffer, compression=compression, row_group_size=50)
    return buffer.getvalue()


def arrow_bytes(compression="uncompressed"):
    buffer = io.BytesIO()
    table = pa.Table.from_pandas(frame(), preserve_index=False)
    pa.feather.write_feather(table, buffer, compression=compression)
    return buffer.getvalue()


def npy_bytes():
    buffer = io.BytesIO()
    np.save(buffer, frame().drop(columns="kind").to_numpy())
    return buffer.getvalue()


def npz_bytes():
    buffer = io.BytesIO()
    np.savez_compressed(buffer, X=frame().drop(columns="kind").to_numpy(), y=np.arange(200) % 2)
    return buffer.getvalue()


def h5ad_bytes():
    buffer = io.BytesIO()
    values = frame().drop(columns="kind").to_numpy()
    with h5py.File(buffer, "w") as file:
        group = file.create_group("X")
        group.attrs["encoding-type"] = "csr_matrix"
        group.attrs["shape"] = values.shape
        group["data"] = values.ravel()
        group["indices"] = np.tile(np.arange(values.shape[1]), values.shape[0])
        group["indptr"] = np.arange(0, values.size + 1, values.shape[1])
    return buffer.getvalue()


SOUND = {
    "t.csv": csv_bytes,
    "t.csv.gz": lambda: gzip.compress(csv_bytes(), mtime=0),
    "t.csv.xz": lambda: lzma.compress(csv_bytes()),
    "t.parquet": parquet_bytes,
    "zstd.parquet": lambda: parquet_bytes("zstd"),
    "t.arrow": arrow_bytes,
    "lz4.feather": lambda: arrow_bytes("lz4"),
    "t.npy": npy_bytes,
    "t.npz": npz_bytes,
    "t.h5ad": h5ad_bytes,
    "t.parquet.gz": lambda: gzip.compress(parquet_bytes(), mtime=0),
}


def cut(content, rng):
    return content[: rng.integers(len(content))]


def flip(content, rng):
    damaged = bytearray(content)
    for place in rng.integers(len(content), size=rng.integers(1, 6)):
        damaged[place] ^= 1 << rng.integers(8)
    return bytes(damaged)


def overwrite(content, rng):
    start, length = rng.integers(len(content)), rng.integers(1, 64)
    noise = bytes(length) if rng.random() < 0.3 else rng.bytes(length)
    return content[:start] + noise + content[start + length :]


def splice(content, rng):
    first, second = rng.integers(len(content), size=2)
    return content[:first] + content[second:]


def huge_number(content, rng):
    """A field of eight bytes that may be a size becomes enormous."""
    start = int(rng.integers(max(len(content) - 8, 1)))
    number = int(rng.choice([2**31 - 1, 2**40, 2**62]))
    return content[:start] + struct.pack("<q", number) + content[start + 8 :]


DAMAGES = (cut, flip, overwrite, splice, huge_number)


def outcome(path, **options):
    """Read a file: a sound table, or the error that it ends in."""
    try:
        table = read_table(path, max_memory=LIMIT, **options)
    except (DataError, NoInputError) as raised:
        error = raised
    else:
        error = None
    if error is not None:
        assert error.exit_code in {65, 66}
        assert len(str(error).splitlines()) == 1
        return error
    assert np.isfinite(table.values).all()
    assert table.values.shape == (table.rows.size, len(table.columns))
    return table


@pytest.mark.parametrize("name", SOUND)
def test_the_sound_file_is_read(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(SOUND[name]())
    values = frame().drop(columns="kind").to_numpy()
    np.testing.assert_allclose(outcome(path).values, values)


@pytest.mark.parametrize("name", SOUND)
def test_damaged_files_end_in_a_table_or_a_named_error(name, tmp_path):
    sound = SOUND[name]()
    rng = np.random.default_rng(sum(name.encode()))
    before = resource.getrlimit(resource.RLIMIT_DATA)
    errors = 0
    for attempt in range(MUTANTS):
        damaged = DAMAGES[attempt % len(DAMAGES)](sound, rng)
        path = tmp_path / f"{attempt}_{name}"
        path.write_bytes(damaged)
        errors += isinstance(outcome(path), Exception)
    assert errors > MUTANTS / 6
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


@pytest.mark.parametrize("name", SOUND)
def test_every_prefix_of_the_beginning_is_an_error(name, tmp_path):
    """A format's magic bytes and header, cut short; a text table may be a shorter one."""
    sound = SOUND[name]()
    for length in range(0, 24, 2):
        path = tmp_path / f"{length}_{name}"
        path.write_bytes(sound[:length])
        assert isinstance(outcome(path), DataError)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.npy", "t.npz", "t.h5ad", "t.csv"])
@pytest.mark.parametrize("other", ["t.parquet", "t.arrow", "t.npy", "t.npz", "t.h5ad", "t.csv"])
def test_a_file_under_another_name_is_an_error(name, other, tmp_path):
    if name == other:
        return
    path = tmp_path / name
    path.write_bytes(SOUND[other]())
    assert isinstance(outcome(path), DataError)


def npy_header(shape, descr="'<f8'", version=b"\x01\x00"):
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY" + version + struct.pack("<H", len(text)) + text.encode()


NPY_LIES = {
    "more than there is": npy_header((10**6, 10**6)) + bytes(800),
    "less than there is": npy_header((2, 2)) + bytes(800),
    "beyond 64 bits": npy_header((2**62, 2**62)) + bytes(800),
    "negative": npy_header((-4, -4)) + bytes(128),
    "nothing": npy_header((0, 5)),
    "one axis": npy_header((16,)) + bytes(128),
    "three axes": npy_header((2, 2, 2)) + bytes(64),
    "pickled objects": npy_header((2, 2), "'|O'") + b"\x80\x04cos\nabort\n(tR.",
    "text": npy_header((2, 2), "'<U4'") + bytes(64),
    "complex": npy_header((2, 2), "'<c16'") + bytes(64),
    "dates": npy_header((2, 2), "'<M8[D]'") + bytes(32),
    "records": npy_header((4,), "[('a', '<f8')]") + bytes(32),
    "a call": npy_header("__import__('os').abort()"),
    "version 9": npy_header((2, 2), version=b"\x09\x00") + bytes(32),
    "infinite": npy_header((2, 2)) + np.array([1, np.inf, 2, 3]).tobytes(),
    "a long header": b"\x93NUMPY\x02\x00" + struct.pack("<I", 2**31) + b"{" * 500,
}


@pytest.mark.parametrize("lie", NPY_LIES)
def test_npy_files_that_lie(lie, tmp_path):
    path = tmp_path / "t.npy"
    path.write_bytes(NPY_LIES[lie])
    assert isinstance(outcome(path), DataError)


@pytest.mark.parametrize("lie", NPY_LIES)
def test_npz_files_that_lie(lie, tmp_path):
    path = tmp_path / "t.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("X.npy", NPY_LIES[lie])
    assert isinstance(outcome(path), DataError) or lie == "less than there is"


def test_a_zip_bomb_is_an_error(tmp_path):
    """A header that states a gigabyte, and an eighth of a megabyte that unpacks to 128."""
    path = tmp_path / "t.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("X.npy", "w") as part:
        part.write(npy_header((2**17, 1000)))
        for _ in range(16):
            part.write(bytes(2**20 * 8))
    assert "limit" in str(outcome(path))


@pytest.mark.parametrize("suffix", [".csv.gz", ".csv.xz", ".npy.gz"])
def test_a_compressed_bomb_is_an_error(suffix, tmp_path):
    """40 MB of rows, or 200 MB of zeros, in a fraction of a megabyte."""
    rows = npy_header((2**18, 100)) if suffix.startswith(".npy") else b"a,b\n1.5,2\n2,1\n"
    rest = bytes(2**20) if suffix.startswith(".npy") else b"1.25,2\n" * 150_000
    path = tmp_path / f"t{suffix}"
    with (gzip if suffix.endswith("gz") else lzma).open(path, "wb") as file:
        file.write(rows)
        for _ in range(200 if suffix.startswith(".npy") else 40):
            file.write(rest)
    assert "limit" in str(outcome(path))


def test_a_line_that_never_ends_is_an_error(tmp_path):
    path = tmp_path / "t.csv.gz"
    with gzip.open(path, "wb", 1) as file:
        file.write(b"a,b\n")
        for _ in range(50):
            file.write(b"1" * 2**20)
    assert isinstance(outcome(path), DataError)


def test_a_parquet_bomb_is_an_error(tmp_path):
    """One value, repeated: 80 million rows in a few kilobytes."""
    path = tmp_path / "t.parquet"
    table = pa.table({"a": pa.repeat(1.5, 10**6), "b": pa.repeat(2.5, 10**6)})
    with pa.parquet.ParquetWriter(path, table.schema, compression="zstd") as file:
        for _ in range(20):
            file.write_table(table)
    assert path.stat().st_size < 10**6
    assert "limit" in str(outcome(path))


def test_a_parquet_footer_that_states_no_rows_is_no_table(tmp_path):
    path = tmp_path / "t.parquet"
    pa.parquet.write_table(pa.table({"a": pa.array([], pa.float64())}), path)
    assert "no rows" in str(outcome(path))


@pytest.mark.parametrize(
    "change",
    [
        {"shape": (10**12, 7)},
        {"shape": (200, 3)},
        {"shape": (200,)},
        {"indptr": np.arange(201)[::-1]},
        {"indptr": np.zeros(201)},
        {"indptr": np.full(201, -5)},
        {"indices": np.full(1400, 10**9)},
        {"indices": np.full(1400, -1)},
        {"indices": np.zeros(3)},
        {"encoding-type": "csc_matrix"},
    ],
    ids=str,
)
def test_sparse_arrays_that_contradict_themselves(change, tmp_path):
    path = tmp_path / "t.h5ad"
    path.write_bytes(h5ad_bytes())
    with h5py.File(path, "r+") as file:
        for key, value in change.items():
            if key in file["X"]:
                del file["X"][key]
                file["X"][key] = value
            else:
                file["X"].attrs[key] = value
    assert isinstance(outcome(path), DataError)


def test_a_dense_array_that_was_never_written_is_an_error(tmp_path):
    """HDF5 lets a file state terabytes and hold none of them."""
    path = tmp_path / "t.h5ad"
    with h5py.File(path, "w") as file:
        file.create_dataset("X", shape=(10**9, 10**3), dtype="f8", chunks=(10**3, 10**3))
    assert "holds no values" in str(outcome(path))


def test_huge_hdf5_chunks_are_an_error(tmp_path):
    """A chunk is unpacked whole, whatever is asked of it."""
    path = tmp_path / "t.h5ad"
    with h5py.File(path, "w") as file:
        file.create_dataset("X", shape=(10**7, 10), dtype="f8", chunks=(10**6, 10))[:10] = 1
    assert "one chunk" in str(outcome(path))


def test_huge_zarr_chunks_are_an_error(tmp_path):
    zarr = pytest.importorskip("zarr")
    zarr.create_array(tmp_path / "t.zarr", shape=(10**6, 100), chunks=(10**6, 100), dtype="f8")
    assert "limit" in str(outcome(tmp_path / "t.zarr"))
