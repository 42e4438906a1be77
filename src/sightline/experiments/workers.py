"""Where cells are computed: here, in processes of one BLAS thread each, or on a Dask cluster.

A crew takes a function and its arguments, task by task, and yields (position, result) as they
finish. Which crew it was changes no bit of a result.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any, TypeAlias

from sightline._threads import one_blas_thread

Tasks: TypeAlias = Sequence[tuple[Any, ...]]
Crew: TypeAlias = Callable[[Callable[..., Any], Tasks], Iterator[tuple[int, Any]]]


_PATIENCE = "10s"
"""How long a scheduler may take to answer."""


class ClusterError(OSError):
    """The cluster can't be had."""


@contextmanager
def open_crew(jobs: int, address: str | None = None) -> Iterator[Crew]:
    """Yield a crew of `jobs` processes, or the one of the Dask cluster at an address."""
    if address is not None:
        with _cluster(address) as crew:
            yield crew
    elif jobs == 1:
        yield _here
    else:
        with _processes(jobs) as crew:
            yield crew


def _here(function: Callable[..., Any], tasks: Tasks) -> Iterator[tuple[int, Any]]:
    for position, task in enumerate(tasks):
        with one_blas_thread():
            yield position, function(*task)


@contextmanager
def _processes(jobs: int) -> Iterator[Crew]:
    context = multiprocessing.get_context("spawn")  # a fork would inherit threads of BLAS and CUDA
    listen, held = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_join, initargs=(listen,))

    def crew(function: Callable[..., Any], tasks: Tasks) -> Iterator[tuple[int, Any]]:
        waiting = {pool.submit(function, *task): place for place, task in enumerate(tasks)}
        for done in as_completed(waiting):
            yield waiting.pop(done), done.result()

    try:
        yield crew
        pool.shutdown()
    finally:
        held.close()  # tells the workers to go, also in the middle of a cell
        pool.shutdown(cancel_futures=True)
        listen.close()


def _join(listen: Connection) -> None:
    """Prepare a worker: one BLAS thread, no say in Ctrl-C, and no life after its parent's."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    one_blas_thread().__enter__()
    threading.Thread(target=_leave_with_parent, args=(listen,), daemon=True).start()


def _leave_with_parent(listen: Connection) -> None:
    """Wait for the other end of the pipe to close, by hand or because its process was killed."""
    try:
        listen.recv()
    except (EOFError, OSError):
        os._exit(0)


@contextmanager
def _cluster(address: str) -> Iterator[Crew]:
    try:
        from distributed import Client, as_completed  # noqa: PLC0415  (optional)
    except ModuleNotFoundError as error:
        raise ClusterError(
            "--dask needs the package distributed, which is not installed. "
            "Install sightline[dask], or leave --dask out."
        ) from error
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"--dask={address!r}: no scheduler answers there ({error}). Start one with "
            "`dask scheduler`, and workers with `dask worker`, or check the address."
        ) from error

    def crew(function: Callable[..., Any], tasks: Tasks) -> Iterator[tuple[int, Any]]:
        waiting = {
            client.submit(_alone, function, *task, pure=False): place
            for place, task in enumerate(tasks)
        }
        for done in as_completed(list(waiting), loop=client.loop):
            yield waiting.pop(done), done.result()

    try:
        yield crew
    finally:
        client.close()


def _alone(function: Callable[..., Any], *task: Any) -> Any:
    """Run a task with one BLAS thread on somebody else's worker."""
    with one_blas_thread():
        return function(*task)
