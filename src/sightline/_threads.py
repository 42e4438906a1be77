"""Blocks of rows on threads, with one BLAS thread inside each, and results in their order.

Threads over blocks beat threads inside a product: the elementwise map between two products then
runs on all cores too, in each core's own cache. Which thread takes which block changes nothing,
so the bits don't depend on how many there are.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

_holders: list[None] = []
_before: list[Any] = []
_holders_lock = Lock()

_AHEAD = 2
"""Results that may wait for each thread before their turn; more would hold memory for nothing."""


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, thread_name_prefix="sightline")


if hasattr(os, "register_at_fork"):  # a forked child inherits the pool but none of its threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


def thread_count() -> int:
    """Return how many threads BLAS may use now: its own setting, or a `threadpool_limits` one."""
    return max((pool.num_threads for pool in _controller().lib_controllers), default=1)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS and LAPACK to one thread: a product cut among threads rounds otherwise.

    The setting is one of the whole process. Where several threads ask for it, the first sets it
    and the last one restores it.
    """
    with _holders_lock:
        if not _holders:
            _before.append(_controller().limit(limits=1))
        _holders.append(None)
    try:
        yield
    finally:
        with _holders_lock:
            _holders.pop()
            if not _holders:
                _before.pop().restore_original_limits()


def ordered_map(
    function: Callable[[Item], Result], items: Iterable[Item], *, threads: int
) -> Iterator[Result]:
    """Yield `function(item)` in the order of the items, computed on `threads` threads."""
    with one_blas_thread():
        if threads <= 1:
            yield from map(function, items)
            return
        waiting: deque[Future[Result]] = deque()
        pool = _pool(threads)
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) >= _AHEAD * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
