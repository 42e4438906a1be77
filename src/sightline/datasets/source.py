"""Where the files of a public data set are: which ones, in which folders, and how they are opened.

Files may come from strangers. They are opened without running anything in them, and readers ask a
stream for a stated number of bytes, so that a small file cannot unpack into all of memory.
"""

from __future__ import annotations

import gzip
import lzma
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias

FolderName: TypeAlias = str | os.PathLike[str]

_OPENERS: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}


@dataclass(frozen=True)
class Source:
    """A public data set: its official files on disk, and the same rows on OpenML.

    Attributes
    ----------
    name : what messages call it.
    files : the official names, plain; each may carry the ending `packed` instead.
    packed : the ending of a packed file, ".gz" or ".xz".
    folder : where the files are looked for below `data_home`, before `data_home` itself.
    publisher : where a person gets the official files.
    openml_id : the number of the data set on OpenML.
    n_train, n_test, n_columns : how many rows and columns it has.
    n_labels : how many classes; labels are 0 .. n_labels - 1.
    labels_digest : SHA-256 of all labels as bytes, the training rows first, in official order.
    """

    name: str
    files: tuple[str, ...]
    packed: str
    folder: str
    publisher: str
    openml_id: int
    n_train: int
    n_test: int
    n_columns: int
    n_labels: int
    labels_digest: str

    def find(self, data_home: FolderName) -> dict[str, Path] | None:
        """Return the path of every official file, None where there is none, else raise."""
        for folder in (as_folder(data_home) / self.folder, as_folder(data_home)):
            found = {name: self._path(folder, name) for name in self.files}
            present = {name: path for name, path in found.items() if path is not None}
            if len(present) == len(self.files):
                return present
            if present:
                missing = ", ".join(name for name in self.files if name not in present)
                raise FileNotFoundError(
                    f"{folder} has some of the official files of {self.name}, but not {missing}; "
                    f"add them (plain or {self.packed}) from {self.publisher}, or choose another "
                    "data_home."
                )
        return None

    def where_to_put(self, data_home: FolderName) -> str:
        """Say which files go where."""
        return (
            f"put the official files {', '.join(self.files)} (plain or {self.packed}) from "
            f"{self.publisher} into {as_folder(data_home) / self.folder}"
        )

    def _path(self, folder: Path, name: str) -> Path | None:
        choices = (folder / name, folder / f"{name}{self.packed}")
        return next((path for path in choices if path.is_file()), None)


def as_folder(data_home: FolderName) -> Path:
    """Return `data_home` as a path, with ~ for the user's own folder."""
    if not isinstance(data_home, str | os.PathLike):
        raise TypeError(f"data_home={data_home!r} must be the path of a folder.")
    return Path(data_home).expanduser()


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a plain, .gz or .xz file; a broken one is a ValueError that names it."""
    try:
        with _OPENERS.get(path.suffix, open)(path, "rb") as stream:
            yield stream
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as broken:
        raise damaged(path, f"it does not unpack ({broken})") from broken


def damaged(path: Path, what: str) -> ValueError:
    """Return the error for a file that is not what it should be."""
    return ValueError(f"{path} is damaged or not the official file: {what}. Download it again.")
