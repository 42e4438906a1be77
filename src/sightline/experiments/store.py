"""The folder of a run: one file a finished cell, so that a killed run goes on where it was.

    run.json            the settings that every cell in the folder has
    cells/KEY.json      a finished cell: its rows, its seconds, seed and versions
    results.parquet     all rows in the order of the grid; no times, so that equal runs have
                        equal bytes

A file is written beside its place, flushed to the disk and renamed: it is complete or not there.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from sightline.experiments.figure import Cell, Row, digest_of, key_of

OUTPUTS = ("results.parquet", "summary.csv", "figure.png", "figure.pdf", "REPORT.md")
"""What a finished run leaves beside its cells."""

Settings = dict[str, Any]


class OtherRunError(ValueError):
    """The folder holds a run of other settings."""

    exit_code = 2


class BusyError(OSError):
    """Another run is at work in the folder."""


@contextmanager
def sole_run(folder: Path) -> Iterator[None]:
    """Hold the folder, made where it is missing, for one run at a time.

    The system lets go of it when the process ends, however it ends, so that nothing stale is left
    behind. On Windows nothing is held.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform == "win32":
        yield
        return
    import fcntl  # noqa: PLC0415  (not on Windows)

    held = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BusyError(
                f"another run is at work in {folder}. Wait for it to end, or use another --output."
            ) from error
        yield
    finally:
        os.close(held)


class Store:
    """The finished cells of one run.

    Parameters
    ----------
    folder : made where it is missing.
    settings : figure, scale, grid, seed, device and versions: JSON content that cells share.
    force : throw away a run of other settings instead of refusing to go on.
    """

    def __init__(self, folder: Path, settings: Settings, *, force: bool = False) -> None:
        self.folder = folder
        self.settings = settings
        self.digest = digest_of(settings)
        self._cells = folder / "cells"
        earlier = self._earlier()
        if earlier is not None and earlier != settings:
            if not force:
                raise OtherRunError(_difference(folder, earlier, settings))
            self._clear()
        self._cells.mkdir(parents=True, exist_ok=True)
        for partial in self._cells.glob(".*.part"):
            partial.unlink(missing_ok=True)
        write_safely(folder / "run.json", _text(settings))

    def finished(self, cells: Sequence[Cell]) -> dict[str, dict[str, Any]]:
        """Return the records of those of the cells that are done, by key."""
        records = {}
        for key in map(key_of, cells):
            path = self._cells / f"{key}.json"
            if path.exists():
                record = json.loads(path.read_bytes())
                if record["settings"] != self.digest:
                    raise OtherRunError(f"{path} is of another run. {_REMEDY}")
                records[key] = record
        return records

    def write(self, cell: Cell, rows: list[Row], seconds: float) -> dict[str, Any]:
        """Keep a finished cell for good, and return its record."""
        record = {
            "cell": cell,
            "settings": self.digest,
            "seed": self.settings["seed"],
            "versions": self.settings["versions"],
            "seconds": seconds,
            "rows": rows,
        }
        text = _text(record)
        write_safely(self._cells / f"{key_of(cell)}.json", text)
        kept: dict[str, Any] = json.loads(text)  # what a run that is resumed would read
        return kept

    def write_results(self, rows: list[Row]) -> None:
        """Write all rows with the settings that they have; equal rows give equal bytes."""
        table = pa.Table.from_pylist(rows)
        metadata = {"sightline.settings": json.dumps(self.settings, sort_keys=True)}
        buffer = io.BytesIO()
        pa.parquet.write_table(table.replace_schema_metadata(metadata), buffer)
        write_safely(self.folder / "results.parquet", buffer.getvalue())

    def write_summary(self, rows: list[Row]) -> None:
        """Write the numbers behind the picture."""
        buffer = io.BytesIO()
        pa.csv.write_csv(pa.Table.from_pylist(rows), buffer)
        write_safely(self.folder / "summary.csv", buffer.getvalue())

    def _earlier(self) -> Settings | None:
        """Return the settings of the run that is in the folder already, {} if they are unknown."""
        path = self.folder / "run.json"
        if path.exists():
            content = json.loads(path.read_bytes())
            return content if isinstance(content, dict) else {}
        return {} if any((self.folder / name).exists() for name in OUTPUTS) else None

    def _clear(self) -> None:
        shutil.rmtree(self._cells, ignore_errors=True)
        for name in OUTPUTS:
            (self.folder / name).unlink(missing_ok=True)


def write_safely(path: Path, content: bytes) -> None:
    """Make `path` hold `content`, or leave it as it was: also through a loss of power."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    with partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    if os.name == "posix":  # the new name is in the folder, which has to reach the disk too
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


_REMEDY = "Use --force to discard it and begin anew, or another --output."


def _text(content: Any) -> bytes:
    return (json.dumps(content, indent=1) + "\n").encode()


def _difference(folder: Path, earlier: Settings, now: Settings) -> str:
    """Return a sentence that says what an earlier run in the folder had otherwise."""
    if not earlier:
        return f"{folder} holds results of unknown settings. {_REMEDY}"
    changed = [
        f"{name} {earlier.get(name)!r}, now {now.get(name)!r}"
        for name in sorted(earlier.keys() | now.keys())
        if earlier.get(name) != now.get(name)
    ]
    return f"{folder} holds a run of other settings: {'; '.join(changed)}. {_REMEDY}"
