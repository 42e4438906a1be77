"""Files of strangers: what is right is read exactly, what lies is a ValueError that names it."""

import gzip
import lzma
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sightline.datasets.idx import read_idx
from sightline.datasets.text import read_names, read_numbers, unique_names

SHAPE = (3, 2, 4)
VALUES = np.arange(24, dtype=np.uint8).reshape(SHAPE) * 10
HEADER = struct.pack(">HBB3I", 0, 8, 3, *SHAPE)
IDX = HEADER + VALUES.tobytes()


@pytest.fixture
def written(tmp_path):
    """Write bytes under a name and return the path."""

    def write(content, name="file"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize(("name", "pack"), [("file", bytes), ("file.gz", gzip.compress)])
def test_idx_files_are_read_as_they_are(written, name, pack):
    array = read_idx(written(pack(IDX), name), SHAPE)
    assert array.dtype == np.uint8
    assert np.array_equal(array, VALUES)
    array[0] = 0  # the caller's own array


HOSTILE = {
    "empty": (b"", "0 of 16 bytes"),
    "short header": (IDX[:7], "7 of 16 bytes"),
    "other magic": (b"PK" + IDX[2:], "starts with two zero bytes"),
    "floats": (b"\0\0\x0d" + IDX[3:], "type is 0x0d"),
    "other rank": (b"\0\0\x08\x01" + IDX[4:], r"has 1 dimension\(s\), not 3"),
    "other shape": (struct.pack(">HBB3I", 0, 8, 3, 3, 2, 5) + IDX[16:], r"\(3, 2, 5\), not"),
    "turned shape": (struct.pack(">HBB3I", 0, 8, 3, 4, 2, 3) + IDX[16:], r"\(4, 2, 3\), not"),
    "huge shape": (struct.pack(">HBB3I", 0, 8, 3, *[2**32 - 1] * 3), r"4294967295, 4294967295"),
    "zero rows": (struct.pack(">HBB3I", 0, 8, 3, 0, 2, 4), r"\(0, 2, 4\), not"),
    "too few values": (IDX[:-1], "ends after 23 of 24 values"),
    "too many values": (IDX + b"\0", "goes on after its 24 values"),
}


@pytest.mark.parametrize(("name", "pack"), [("file", bytes), ("file.gz", gzip.compress)])
@pytest.mark.parametrize("kind", HOSTILE)
def test_lying_idx_files_are_refused(written, name, pack, kind):
    content, message = HOSTILE[kind]
    path = written(pack(content), name)
    with pytest.raises(ValueError, match=message) as refused:
        read_idx(path, SHAPE)
    assert str(path) in str(refused.value)
    assert "Download it again" in str(refused.value)


def broken_sum(packed):
    """Turn a bit of the CRC that ends a gzip file."""
    return packed[:-8] + bytes([packed[-8] ^ 1]) + packed[-7:]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda packed: packed[:-12],
        lambda packed: packed[:-3],
        lambda packed: b"no gzip at all",
        lambda packed: packed[:10] + b"\xff" * 20,
        broken_sum,
    ],
)
def test_broken_gzip_files_are_refused(written, spoil):
    path = written(spoil(gzip.compress(IDX, mtime=0)), "file.gz")
    with pytest.raises(ValueError, match=r"file\.gz is damaged .* does not unpack"):
        read_idx(path, SHAPE)


RIGHT = struct.pack(">HBB3I", 0, 8, 3, 1, 2, 4)


@given(st.binary(max_size=30) | st.binary(max_size=12).map(lambda tail: RIGHT + tail))
@example(RIGHT + b"8 values")
def test_any_bytes_are_read_exactly_or_refused(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("bytes") / "file"
    path.write_bytes(content)
    if content.startswith(RIGHT) and len(content) == len(RIGHT) + 8:
        assert RIGHT + read_idx(path, (1, 2, 4)).tobytes() == content
    else:
        with pytest.raises(ValueError, match="is damaged or not the official file"):
            read_idx(path, (1, 2, 4))


def test_a_small_file_cannot_unpack_into_all_of_memory(written):
    zeros = bytes(2**26)
    images = written(gzip.compress(HEADER + zeros, 9), "file.gz")
    table = written(lzma.compress(b" " * 2**26, preset=1), "file.xz")
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="goes on after"):
            read_idx(images, SHAPE)
        with pytest.raises(ValueError, match="more than the 96 bytes"):
            read_numbers(table, (3, 1))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2**22  # of 2^26 bytes in each file


@pytest.mark.parametrize(("name", "pack"), [("x.txt", bytes), ("x.txt.xz", lzma.compress)])
def test_numbers_are_read_as_they_are(written, name, pack):
    path = written(pack(b"  1.5e+000 -2.0e-001\r\n 3 4\r\n"), name)
    assert np.array_equal(read_numbers(path, (2, 2)), [[1.5, -0.2], [3, 4]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b"\n \n", "it is empty"),
        (b"1 2\n3 four\n", "no table of numbers"),
        (b"1 2\n3\n", "no table of numbers"),
        (b"1 2\n# 3 4\n", "no table of numbers"),
        (b"\xff\xfe1\x002\x00", "no table of numbers"),
        (b"1 2\n", r"shape is \(1, 2\), not \(2, 2\)"),
        (b"1 2 3\n4 5 6\n", r"shape is \(2, 3\), not \(2, 2\)"),
        (b"1 2\n3 nan\n", "NaN or infinity"),
        (b"1 2\n3 1e999\n", "NaN or infinity"),
        (b"1 2\n3 " + b"4" * 200, "more than the 128 bytes"),
    ],
)
def test_lying_tables_are_refused(written, content, message):
    path = written(content, "x.txt")
    with pytest.raises(ValueError, match=message) as refused:
        read_numbers(path, (2, 2))
    assert str(path) in str(refused.value)


@pytest.mark.parametrize("content", [b"0\n1\n", b"1\n7\n", b"1\n2.5\n"])
def test_labels_must_be_whole_and_in_range(written, content):
    with pytest.raises(ValueError, match=r"other values than the whole numbers 1 \.\. 6"):
        read_numbers(written(content), (2, 1), whole_up_to=6)


def test_a_broken_xz_file_is_refused(written):
    packed = lzma.compress(b"1 2\n3 4\n")
    for content in (packed[:-9], b"no xz", packed[:30] + b"?" + packed[31:]):
        with pytest.raises(ValueError, match="does not unpack"):
            read_numbers(written(content, "x.txt.xz"), (2, 2))


def test_names_are_read_by_number(written):
    path = written(b"1 tBodyAcc-mean()-X\r\n2 angle(X, gravityMean)\r\n")
    assert read_names(path, 2) == ["tBodyAcc-mean()-X", "angle(X, gravityMean)"]


@pytest.mark.parametrize("content", [b"", b"1 a\n", b"1 a\n3 b\n", b"1 a\n2\n", b"1 a\n\n2 b"])
def test_name_lists_must_be_complete(written, content):
    with pytest.raises(ValueError, match='2 lines "number name"'):
        read_names(written(content), 2)


@given(st.lists(st.text("abc", min_size=1, max_size=2)))
def test_names_become_unique_and_single_ones_stay(names):
    unique = unique_names(names)
    assert len(set(unique)) == len(names)
    for before, after in zip(names, unique, strict=True):
        assert after.split("#")[0] == before
        assert (after == before) == (names.count(before) == 1)
