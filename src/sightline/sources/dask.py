"""Rows of a Dask array or data frame, worked on where they are.

With a distributed client the table is cut anew into chunks that begin at multiples of a power of
two times `UNIT` rows, each a node of the tree of sums, and held by the workers. A fold is one task
a chunk and a few that add; directions travel inside the tasks, because what is scattered is lost
with the worker that holds it. Without a client, the rows are computed run by run in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import dask.array as da
import numpy as np

from sightline._threads import one_blas_thread
from sightline.lazy import (
    UNIT,
    Host,
    LazyRows,
    StoredRows,
    as_rows,
    pick_rows,
    run_length,
    tree_sum,
)

_CHUNK_BYTES = 2**27
"""A chunk takes no more than this, ..."""

_CHUNKS_A_THREAD, _LEAST_BYTES = 4, 2**22
"""... and there are so many for each thread, so that none waits long for the others; but where
they would take less than this, one for each thread: a task has its own cost."""

_ARITY = 16
"""Sums that one task adds: a power of two, and so a node of the tree of sums."""

_RETRIES = 10
"""Times that a task is tried again, and that a fold is when too many workers died under it."""

Part = TypeVar("Part", bound=Any)


def dask_rows(X: Any) -> LazyRows:
    """Return the rows of a Dask array or data frame, held by the workers where there are any."""
    array, columns = _as_array(X)
    client = _client()
    if client is None:
        return _LocalRows(array, columns)
    return _ClusterRows(array, columns, client)


def _as_array(X: Any) -> tuple[Any, list[str] | None]:
    """Return a Dask array of numbers whose chunks have known lengths, and names of the columns."""
    columns = None
    if X.ndim != 2:
        raise ValueError(
            f"X is a Dask {type(X).__name__} of {X.ndim} dimension(s); it must be a table, (rows, "
            "columns). Of a column make one: X.to_frame(), or X[:, None] of an array."
        )
    if hasattr(X, "to_dask_array"):
        columns = [str(name) for name in X.columns]
        # Lengths are asked of the array: of some columns of Parquet files, a frame may not know
        # into how many partitions it will be read.
        X = _of_plain_numbers(X).to_dask_array()
    if X.dtype.kind not in "fiub":
        raise ValueError(
            f"X is a Dask array of dtype {X.dtype}; it must hold real numbers. Convert it: "
            "X.astype('float64')."
        )
    if np.isnan(X.shape[0]):
        X = X.compute_chunk_sizes()
    return X, columns


def _of_plain_numbers(frame: Any) -> Any:
    """Return a frame of NumPy's kinds of numbers: nullable and Arrow's would become objects."""
    plain = {}
    for name, kind in frame.dtypes.items():
        letter = getattr(kind, "kind", "O")
        if letter not in "fiub":
            raise ValueError(
                f"column {name!r} holds {kind}; it must hold numbers. Drop it: X.drop(columns="
                f"[{name!r}])."
            )
        if not isinstance(kind, np.dtype):
            narrow = letter == "f" and kind.itemsize <= 4
            plain[name] = "float32" if narrow else "float64"
    return frame.astype(plain) if plain else frame


def _client() -> Any:
    """Return the distributed client in use, or None."""
    try:
        from distributed import default_client  # noqa: PLC0415  (not every Dask has it)

        return default_client()
    except (ImportError, ValueError):
        return None


def _aligned(array: Any, rows: int, columns: Any, dtype: np.dtype[Any]) -> Any:
    """Return the array in chunks of so many rows, converted and checked when they are computed."""
    whole = array.rechunk({0: rows, 1: -1})
    return whole.map_blocks(_checked, columns, dtype, dtype=dtype, meta=np.empty((0, 0), dtype))


@dataclass(frozen=True, slots=True)
class _Refused:
    """What is wrong with the rows of a chunk: in their place, since Dask would retry an error."""

    why: str


def _checked(
    rows: Any, columns: Any, dtype: np.dtype[Any], block_info: dict[Any, Any] | None = None
) -> Host | _Refused:
    first = block_info[0]["array-location"][0][0] if block_info else 0
    try:
        return as_rows(np.asarray(rows), dtype, "X", columns, first)
    except ValueError as error:
        return _Refused(str(error))


def _accepted(rows: Host | _Refused) -> Host:
    if isinstance(rows, _Refused):
        raise ValueError(rows.why)
    return rows


def _why_refused(rows: Host | _Refused) -> str | None:
    return rows.why if isinstance(rows, _Refused) else None


class _LocalRows(StoredRows):
    """Rows that are computed in this process, run by run, each time that they are needed."""

    def __init__(self, array: Any, columns: Any) -> None:
        shape = int(array.shape[0]), int(array.shape[1])
        super().__init__(self._compute, shape, array.dtype, columns=columns, chunked=True)
        self._array = array.rechunk({0: self.run_rows, 1: -1})

    def _compute(self, start: int, stop: int) -> Host:
        return np.asarray(self._array[start:stop].compute())

    def finished_through(self, function: Callable[[Host], Host], width: int) -> Any:
        """Return a Dask array."""
        aligned = _aligned(self._array, self.run_rows, self.columns, self.dtype)
        return _map_chunks(aligned, function, width)


class _ClusterRows(LazyRows):
    """Rows in chunks that the workers of a distributed cluster hold."""

    def __init__(self, array: Any, columns: Any, client: Any) -> None:
        shape = int(array.shape[0]), int(array.shape[1])
        narrow = array.dtype.kind == "f" and array.dtype.itemsize <= 4
        super().__init__(shape, np.float32 if narrow else np.float64, columns)
        self._client = client
        self._rows = self._chunk_rows(sum(client.nthreads().values()))
        self._array = _aligned(array, self._rows, columns, self.dtype)
        self._chunks = client.compute(self._array.to_delayed().ravel().tolist(), retries=_RETRIES)
        for why in self._runs(_why_refused):
            if why is not None:
                raise ValueError(why)

    def _chunk_rows(self, threads: int) -> int:
        """Return how many rows a chunk has: what its size and the number of threads admit."""
        row_bytes = self.shape[1] * self.dtype.itemsize
        rows = run_length(row_bytes, _CHUNK_BYTES)
        for chunks, least in ((1, UNIT), (_CHUNKS_A_THREAD, _LEAST_BYTES // row_bytes)):
            enough = chunks * max(1, threads)
            while rows > UNIT and rows // 2 >= least and rows * enough > self.shape[0]:
                rows //= 2
        return rows

    def runs(self, of_run: Callable[[Host], Part]) -> Iterator[Part]:
        """Work on the chunks where they are, and fetch what comes of them in order."""
        return self._runs(partial(_with_one_blas_thread, of_run))

    def _runs(self, work: Callable[[Any], Part]) -> Iterator[Part]:
        tasks = self._on_chunks(work)
        while tasks:
            yield self._result(tasks.pop(0))

    def fold(self, of_run: Callable[[Host], Part]) -> Part:
        """Work on the chunks and add where they are; only the sum travels."""

        def added() -> Any:
            nodes = self._on_chunks(partial(_with_one_blas_thread, of_run))
            while len(nodes) > 1:
                groups = [nodes[i : i + _ARITY] for i in range(0, len(nodes), _ARITY)]
                nodes = [self._submit(tree_sum, group) for group in groups]
            return nodes[0]

        total: Part = self._result(added(), added)
        return total

    def take(self, positions: Host, through: Callable[[Host], Host] | None = None) -> Host:
        """Pick the rows where they are, and fetch them."""
        order = np.argsort(positions, kind="stable")
        wanted = np.asarray(positions)[order]
        hit = np.unique(np.concatenate((wanted[:1] if wanted.size else [0], wanted)) // self._rows)
        shares = np.split(wanted, np.searchsorted(wanted, hit[1:] * self._rows))
        tasks = [
            self._submit(_pick, self._chunks[chunk], int(chunk) * self._rows, share, through)
            for chunk, share in zip(hit.tolist(), shares, strict=True)
        ]
        taken = np.concatenate([self._result(task) for task in tasks])
        ordered = np.empty_like(taken)
        ordered[order] = taken
        return ordered

    def finished_through(self, function: Callable[[Host], Host], width: int) -> Any:
        """Return a Dask array over the table that was given."""
        return _map_chunks(self._array, function, width)

    def _on_chunks(self, work: Callable[[Any], Part]) -> list[Any]:
        tasks: list[Any] = self._client.map(work, self._chunks, pure=False, retries=_RETRIES)
        return tasks

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return self._client.submit(function, *arguments, pure=False, retries=_RETRIES)

    def _result(self, task: Any, again: Callable[[], Any] | None = None) -> Any:
        """Return what a task gave; one that too many workers died under is tried once more.

        The scheduler gives up on a task when `allowed-failures` workers died with it in hand, and
        can't know whose fault that was.
        """
        from distributed import KilledWorker  # noqa: PLC0415  (not every Dask has it)

        for _ in range(_RETRIES):
            try:
                return task.result()
            except KilledWorker:
                self._retry([chunk for chunk in self._chunks if chunk.status == "error"])
                if again is None:
                    self._retry([task])
                else:
                    task = again()
        return task.result()

    def _retry(self, futures: Sequence[Any]) -> None:
        """Let the scheduler try again.

        It answers with all keys that it tries, and the client stumbles over those between ours.
        """
        for future in futures:
            with suppress(KeyError):
                self._client.retry([future])


def _with_one_blas_thread(of_run: Callable[[Host], Part], rows: Host | _Refused) -> Part:
    with one_blas_thread():
        return of_run(_accepted(rows))


def _pick(
    chunk: Host | _Refused, first: int, wanted: Host, through: Callable[[Host], Host] | None
) -> Host:
    """Return some rows of a chunk by their positions in the table."""
    rows = _accepted(chunk)
    if not wanted.size:
        wanted, empty = np.array([first]), True
    else:
        empty = False

    def read(start: int, stop: int) -> Host:
        return rows[start - first : stop - first]

    with one_blas_thread():
        picked = pick_rows(read, first, first + rows.shape[0], wanted, through, whole=False)
    return picked[:0] if empty else picked


def _map_chunks(array: Any, function: Callable[[Host], Host], width: int) -> Any:
    work = partial(_with_one_blas_thread, function)
    chunks = (array.chunks[0], (width,))
    meta = np.empty((0, 0), array.dtype)
    return da.map_blocks(work, array, dtype=array.dtype, chunks=chunks, meta=meta)
