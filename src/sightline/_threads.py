"""Blocks of rows on threads, with one BLAS thread inside each, and results in their order.

Threads over blocks beat threads inside a product: the elementwise map between two products then
runs on all cores too, in each core's own cache. Which thread takes which block changes nothing,
so the bits don't depend on how many there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from threading import Condition, Lock
from typing import Any, Generic, TypeVar

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
    """Yield `function(item)` in the order of the items, computed on `threads` threads.

    The caller's thread is one of them: it works whenever the result that is due is not there.
    """
    with one_blas_thread():
        if threads <= 1:
            yield from map(function, items)
            return
        work = _Work(function, tuple(items), _AHEAD * threads)
        helpers = [_pool(threads - 1).submit(work.help) for _ in range(threads - 1)]
        try:
            yield from work.results()
        finally:
            work.end()
            helping = [helper for helper in helpers if not helper.cancel()]
            if not work.complete:  # else nobody is at work, and they leave by themselves
                wait(helping)


class _Work(Generic[Item, Result]):
    """Items that several threads take one after the other, and results that wait for their turn.

    Parameters
    ----------
    function, items : what is to be done, and to what.
    ahead : how many items may be taken before the result of the first of them is.
    """

    def __init__(
        self, function: Callable[[Item], Result], items: Sequence[Item], ahead: int
    ) -> None:
        self._function, self._items, self._ahead = function, items, ahead
        self._changed = Condition()
        self._begun = self._returned = 0
        self._last = len(items)
        self._waiting: dict[int, Future[Result]] = {}

    @property
    def complete(self) -> bool:
        """Whether every result has been returned."""
        return self._returned == len(self._items)

    def help(self) -> None:
        """Work until no item is left."""
        while True:
            with self._changed:
                while self._begun < self._last and not self._may_begin():
                    self._changed.wait()
                if self._begun >= self._last:
                    return
                place = self._begin()
            self._work(place)

    def results(self) -> Iterator[Result]:
        """Yield the results in order, and work while the next one is not there."""
        while self._returned < self._last:
            with self._changed:
                due = self._waiting.pop(self._returned, None)
                if due is None and not self._may_begin():
                    self._changed.wait()
                    continue
                place = self._begin() if due is None else 0
                self._returned += due is not None
                self._changed.notify_all()
            if due is None:
                self._work(place)
            else:
                yield due.result()

    def end(self) -> None:
        """Begin nothing more."""
        with self._changed:
            self._last = 0
            self._changed.notify_all()

    def _may_begin(self) -> bool:
        return self._begun < min(self._last, self._returned + self._ahead)

    def _begin(self) -> int:
        self._begun += 1
        return self._begun - 1

    def _work(self, place: int) -> None:
        """Compute one result; an error is the caller's, in its turn."""
        result: Future[Result] = Future()
        try:
            result.set_result(self._function(self._items[place]))
        except BaseException as error:
            result.set_exception(error)
        with self._changed:
            self._waiting[place] = result
            self._changed.notify_all()
