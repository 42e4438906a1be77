"""Searches that say how far they are, and go on where they were when they are started again.

    with resumable("search.checkpoint", every=10):
        pursuit.fit(X)

A search is the same each time it runs with the same seed, so what has to be kept is where its
climbs have got to: a few directions, not the rows. Each climb is known by what it began with; one
that the file has is taken up at the step it was left at.
"""

from __future__ import annotations

import hashlib
import struct
import warnings
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from sightline._arrays import Array, to_numpy
from sightline._options import check_count
from sightline.container import ContainerError, read_container, write_container
from sightline.rows import spaced_rows

_FORMAT = "sightline checkpoint"

_BROKEN = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
)
"""What reading a broken file raises underneath."""

_ROWS = 16
"""Rows by which a table is known again."""

State: TypeAlias = dict[str, np.ndarray[Any, np.dtype[Any]]]
Progress: TypeAlias = Callable[[int, int], object]

_current: ContextVar[_Search | None] = ContextVar("search", default=None)


@contextmanager
def resumable(
    path: Any = None, *, every: int = 10, progress: Progress | None = None
) -> Iterator[None]:
    """Let searches inside keep their state in a file, and report their steps.

    Parameters
    ----------
    path : the file, which holds the state of one search. It is taken up where it is there, and
        removed when all is done. None keeps nothing.
    every : a state is written after so many steps, and at the end of each climb.
    progress : called after each step with how many of the climb's steps are done.

    The search that takes a file up must be the one that wrote it: same rows, options and
    `random_state`, which therefore can't be None. It ends with the same bits. Where a state can't
    be written any more, as on a full disk, a warning says so and the search goes on.
    """
    search = _Search(None if path is None else Path(path), check_count("every", every), progress)
    token = _current.set(search)
    try:
        yield
        search.finish()
    finally:
        _current.reset(token)


def climb(begin: Array, rows: Array, *options: Any, steps: int) -> Climb:
    """Return the record of a climb from `begin` (m, d) on `rows`, as far as it is known."""
    search = _current.get()
    return Climb(None, "", steps) if search is None else search.climb(begin, rows, options, steps)


class Climb:
    """How far a climb is.

    Attributes
    ----------
    state : what `done` was told last, by an earlier process; None where there is nothing.
    step : after which step that was; 0 where there is nothing.
    """

    def __init__(self, search: _Search | None, key: str, steps: int) -> None:
        self._search, self._key, self._steps = search, key, steps
        known = None if search is None else search.known.get(key)
        self.step: int = 0 if known is None else known[0]
        self.state: State | None = None if known is None else known[1]

    def done(self, step: int, state: dict[str, Any], *, last: bool = False) -> None:
        """Note that a step is done; the next one begins with `state`, arrays or lists of them."""
        search = self._search
        if search is None:
            return
        if search.progress is not None:
            search.progress(step, self._steps)
        if search.path is None:
            return
        if last or step == self._steps or step % search.every == 0:
            arrays = {
                name: np.stack(value) if isinstance(value, list) else to_numpy(value)
                for name, value in state.items()
            }
            search.known[self._key] = step, arrays
            search.write()


class _Search:
    """The climbs of a search, by key."""

    def __init__(self, path: Path | None, every: int, progress: Progress | None) -> None:
        self.path, self.every, self.progress = path, every, progress
        self.known: dict[str, tuple[int, State]] = {}
        self._first = ""
        self._before: set[str] = set()
        self._warned = False
        if path is not None and not path.parent.is_dir():
            raise FileNotFoundError(
                f"{path} can't be written: there is no folder {path.parent}. Make it, or give "
                "another path."
            )
        if path is not None and path.exists():
            self.known = _read(path)
            self._before = set(self.known)

    def climb(self, begin: Array, rows: Array, options: tuple[Any, ...], steps: int) -> Climb:
        if self.path is None:
            return Climb(self, "", steps)
        digest = hashlib.sha256(repr((rows.shape, str(rows.dtype), options, steps)).encode())
        for table in (begin, spaced_rows(rows, _ROWS)):
            digest.update(np.ascontiguousarray(to_numpy(table)).tobytes())
        key = digest.hexdigest()
        if self._before and not self._first and key not in self._before:
            raise ValueError(
                f"{self.path} is of another search: other rows, options or random_state (None is "
                "another one each time). Give another path, or delete the file."
            )
        self._first = self._first or key
        return Climb(self, key, steps)

    def write(self) -> None:
        arrays: State = {}
        climbs = []
        for key, (step, state) in self.known.items():
            names = {name: f"a{len(arrays) + i}" for i, name in enumerate(state)}
            arrays |= {names[name]: values for name, values in state.items()}
            climbs.append({"climb": key, "step": step, "arrays": names})
        if self.path is None:
            return
        try:
            write_container(self.path, {"format": _FORMAT, "climbs": climbs}, arrays)
        except OSError as error:  # hours of search are worth more than their insurance
            if not self._warned:
                self._warned = True
                warnings.warn(
                    f"{self.path} can't be written ({error}). The search goes on; what it does "
                    "from here is lost if it is killed. Make room there.",
                    UserWarning,
                    stacklevel=2,
                )

    def finish(self) -> None:
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _read(path: Path) -> dict[str, tuple[int, State]]:
    """Return the climbs of a file, or say that it is none of ours."""
    try:
        with path.open("rb") as file:
            header, arrays = read_container(file)
        if header["format"] != _FORMAT:
            raise ContainerError(f"its format is {header['format']!r}.")
        return {
            climb["climb"]: (
                int(climb["step"]),
                {name: arrays[place] for name, place in climb["arrays"].items()},
            )
            for climb in header["climbs"]
        }
    except _BROKEN as error:
        raise ValueError(
            f"{path} is no checkpoint of sightline, or is damaged ({error}). Give another path, "
            "or delete the file."
        ) from error
