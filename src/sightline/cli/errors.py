"""Errors as people read them: one sentence, the remedy in the next, and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

import click

BAD_DATA = 65
IO_FAILED = 74
INTERRUPTED = 130
UNEXPECTED = 1

_DEBUG = "sightline.debug"


class GuardedGroup(click.Group):
    """A group whose commands end in an exit code and a sentence, never in a traceback.

    `--debug` on the command line lets the traceback through.
    """

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Run with streams that are there, whatever the caller has closed."""
        _open_closed_streams()
        return super().main(*args, **kwargs)

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the command line; `--version` and `--help` write, and may fail at it."""
        try:
            return super().make_context(*args, **kwargs)
        except (OSError, KeyboardInterrupt) as error:
            raise _end(error) from None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn what it raises into a message on stderr and an exit code."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except (Exception, KeyboardInterrupt) as error:
            if ctx.meta.get(_DEBUG) and not isinstance(error, BrokenPipeError):
                raise
            raise _end(error) from None


def _end(error: BaseException) -> click.exceptions.Exit:
    """Say what went wrong, and return the end of the command."""
    if isinstance(error, OSError):  # what is left in a buffer would fail once more at the exit
        _silence_stdout()
    if not isinstance(error, BrokenPipeError):
        with contextlib.suppress(OSError):
            click.echo(f"sightline: {sentence(error)}", err=True)
    return click.exceptions.Exit(exit_code(error))


def exit_code(error: BaseException) -> int:
    """Return the exit code that the error declares, or the one for its kind."""
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    declared = getattr(error, "exit_code", None)
    if declared is not None:
        return int(declared)
    if isinstance(error, OSError):
        return IO_FAILED
    if isinstance(error, ValueError | TypeError | MemoryError):
        return BAD_DATA
    return UNEXPECTED


def sentence(error: BaseException) -> str:
    """Return what went wrong and what to do about it, in one line."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted."
    if isinstance(error, OSError) and error.strerror and exit_code(error) == IO_FAILED:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror.lower()}. Check the path, its permissions and free space."
    if exit_code(error) == UNEXPECTED:
        return (
            f"unexpected {type(error).__name__}: {error}. Run again with --debug and report what "
            "it prints."
        )
    return " ".join(str(error).split()) or type(error).__name__


def debug_option(command: Any) -> Any:
    """Add `--debug`, which lets tracebacks through."""

    def note(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        ctx.meta[_DEBUG] = value

    option = click.option(
        "--debug", is_flag=True, expose_value=False, callback=note, help="Show tracebacks."
    )
    return option(command)


def _silence_stdout() -> None:
    """Point stdout at nothing: nobody can read it, and the last flush must not complain."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _open_closed_streams() -> None:
    """Give the process its three streams: Python has None where the caller closed one."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  (open to the end)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
