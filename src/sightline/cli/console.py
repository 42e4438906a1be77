"""Where words go: results to stdout, progress and messages to stderr.

rich honours NO_COLOR and writes plain text where the stream is no terminal.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


def results() -> Console:
    """Return the console for results, on stdout."""
    from rich.console import Console

    return Console(highlight=False, soft_wrap=True)


def messages(*, quiet: bool = False) -> Console:
    """Return the console for messages, on stderr; a quiet one says nothing."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=True, quiet=quiet)


@contextmanager
def working(console: Console, words: str) -> Iterator[None]:
    """Say what is being done: a moving mark on a terminal, nothing in a file or a pipe."""
    if not console.is_terminal:
        yield
        return
    with console.status(words):
        yield
