"""The command where things go wrong: closed streams, full disks, broken files, interrupts."""

import os
import resource
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from sightline.cli.options import check_writable

PROGRAM = "from sightline.cli import main; main()"


def shell(line, folder, **options):
    """Run a line of shell in which `sightline` is the command."""
    program = f"""sightline() {{ '{sys.executable}' -c "{PROGRAM}" "$@"; }}\n"""
    return subprocess.run(
        ["/bin/sh", "-c", program + line],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        **options,
    )


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("sightline find table.csv >&-", 0),
        ("sightline --version 2>&-", 0),
        ("sightline find - <&-", 65),
        ("sightline find - </dev/null", 65),
        ("sightline --version >/dev/full", 74),
        ("sightline --help >/dev/full", 74),
        ("sightline find table.csv >/dev/full", 74),
    ],
)
def test_streams_that_are_closed_or_full(line, code, table, tmp_path):
    done = shell(line, tmp_path)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    assert "unexpected" not in done.stderr
    assert "Exception ignored" not in done.stderr


@pytest.mark.parametrize("size", [0, 4000])
def test_files_that_may_not_grow_leave_whole_files_or_none(size, table, tmp_path):
    """As on a full disk: writing fails somewhere on the way."""

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    done = shell("sightline find table.csv", tmp_path, preexec_fn=limit)
    assert done.returncode == 74, done.stderr
    assert "Check the path, its permissions and free space" in done.stderr
    folder = tmp_path / "table-sightline"
    kept = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    assert not [name for name in kept if name.startswith(".")]
    assert "report.html" not in kept


def test_a_folder_that_cannot_be_written_is_an_error_before_any_work(run, table, monkeypatch):
    monkeypatch.setattr("sightline.cli.options.os.access", lambda *args: False)
    result = run("find", table)
    assert result.exit_code == 74
    assert "is not writable" in result.stderr
    assert "Read 600 rows" not in result.stderr


def test_a_file_in_the_place_of_a_folder_is_an_error(table, tmp_path):
    with pytest.raises(NotADirectoryError):
        check_writable(table / "results")
    check_writable(tmp_path / "some" / "new" / "folder")


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [0.2, 0.6, 1.0, 1.5, 2.5])
def test_an_interruption_at_any_time_ends_in_130_without_half_files(seconds, tmp_path):
    rows = np.random.default_rng(0).standard_normal((20_000, 30))
    np.save(tmp_path / "t.npy", rows)
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "find", "t.npy"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        _, words = process.communicate()
    # An interpreter that has not come to the command yet is ended by the signal itself.
    early = process.returncode in {-signal.SIGINT, 130} and seconds < 1
    assert process.returncode in {0, 130} or early
    assert early or "Traceback" not in words
    folder = tmp_path / "t-sightline"
    assert not folder.exists() or not [p for p in os.listdir(folder) if p.startswith(".")]


BROKEN = {
    "empty.csv": b"",
    "ragged.csv": b"a,b\n1,2\n1\n",
    "letters.csv": b"a,b\nx,y\nz,w\n",
    "mixed.csv": b"a,b\n1,2\n2,4\nx,5\n7,1\n",
    "latin.csv": "a,ä\n1,2\n".encode("latin-1"),
    "huge.csv": b"a,b\n1,1e400\n2,3\n",
    "digits.csv": b"a,b\n1.5," + b"9" * 30 + b"\n2,3\n",
    "twice.csv": b"a,a\n1,2\n",
    "nameless.csv": b"a,\n1,2\n",
    "one.csv": b"a,b\n1.5,2.5\n",
    "junk.parquet": b"PAR1" + bytes(100),
    "junk.arrow": b"ARROW1" + bytes(100),
    "junk.npy": b"\x93NUMPY" + bytes(100),
    "junk.npz": b"PK\x03\x04" + bytes(100),
    "junk.h5ad": b"\x89HDF\r\n\x1a\n" + bytes(100),
    "junk.csv.gz": b"\x1f\x8b" + bytes(100),
    "junk.csv.xz": b"\xfd7zXZ" + bytes(100),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_one_line_and_leaves_nothing(name, run, tmp_path):
    (tmp_path / name).write_bytes(BROKEN[name])
    result = run("find", name)
    assert result.exit_code == 65
    last = result.stderr.splitlines()[-1]
    assert last.startswith("sightline: ")
    assert name in last
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("encoding", ["klingon", "rot13", "hex"])
def test_an_unknown_encoding_is_named(encoding, run, table):
    result = run("find", table, "--encoding", encoding)
    assert result.exit_code == 65
    assert f"encoding='{encoding}' is unknown" in result.stderr


def test_wide_text_is_read_when_it_is_named(run, planted, tmp_path):
    text = planted.to_csv(index=False)
    (tmp_path / "wide.csv").write_bytes(text.encode("utf-16"))
    assert "--encoding utf-16 reads" in run("find", "wide.csv").stderr
    result = run("find", "wide.csv", "--encoding", "utf-16")
    assert result.exit_code == 0, result.stderr
    assert "Read 600 rows, 6 columns" in result.stderr
