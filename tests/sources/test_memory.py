"""Sizes in words, and a ceiling that holds."""

import subprocess
import sys

import pytest

from sightline.sources import parse_memory
from sightline.sources.memory import half_of_memory, show_bytes


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("2K", 2048), ("3 MB", 3 * 2**20), ("1.5GiB", 3 * 2**29), ("1t", 2**40)],
)
def test_sizes_are_powers_of_1024(text, size):
    assert parse_memory(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "0", "1.2.3M", "2X", "nan", "1e9"])
def test_what_is_no_size_is_refused(text):
    with pytest.raises(ValueError, match="max_memory="):
        parse_memory(text)


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (2048, "2 KB"), (3 * 2**20, "3 MB"), (2**40, "1024.0 GB")]
)
def test_sizes_as_people_write_them(size, text):
    assert show_bytes(size) == text


def test_the_machine_has_memory():
    assert half_of_memory() > 2**28


def test_without_word_of_the_machine_there_is_a_default(monkeypatch):
    monkeypatch.delattr("os.sysconf")
    assert half_of_memory() == 4 * 2**30


PROGRAM = """
import numpy as np
from sightline.sources.memory import ceiling
with ceiling(2**24):
    np.ones(2**20)
    try:
        np.ones(2**26)
    except MemoryError:
        print("held")
np.ones(2**26)
print("lifted")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such limit")
def test_the_ceiling_holds_and_is_lifted():
    """16 MB and some room: 8 MB pass, 512 MB do not; afterwards they do."""
    outcome = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert outcome.stdout.split() == ["held", "lifted"]
