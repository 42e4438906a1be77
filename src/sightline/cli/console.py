"""Where words go: results to stdout, progress and messages to stderr.

rich honours NO_COLOR and writes plain text where the stream is no terminal.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def results() -> Console:
    """Return the console for results, on stdout."""
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = _WIDTH
    return console


def messages(*, quiet: bool = False) -> Console:
    """Return the console for messages, on stderr; a quiet one says nothing."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True, quiet=quiet)


_WIDTH = 160
"""Columns of a table that goes to a file or a pipe."""

_PATIENCE = 2.0
"""Seconds after which a bar appears."""


@contextmanager
def bar(console: Console, words: str) -> Iterator[Callable[[float], None] | None]:
    """Yield a function that is told which part is done, and shows it and the time left.

    The bar appears after two seconds, and begins anew where the part gets smaller. Where stderr is
    no terminal there is none, and None.
    """
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn(words), BarColumn(), TimeRemainingColumn()
    progress = Progress(*columns, console=console, transient=True)
    task = progress.add_task(words, total=1.0)
    began = time.monotonic()

    def advance(part: float) -> None:
        if time.monotonic() - began > _PATIENCE:
            progress.start()
        if part < progress.tasks[0].completed:
            progress.reset(task)
        progress.update(task, completed=part)

    try:
        yield advance
    finally:
        progress.stop()


@contextmanager
def working(console: Console, words: str) -> Iterator[None]:
    """Say what is being done: a moving mark on a terminal, nothing in a file or a pipe."""
    if not console.is_terminal:
        yield
        return
    with console.status(words):
        yield
