"""Errors as people read them: one sentence, the remedy in the next, and an exit code."""

from __future__ import annotations

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

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; turn what it raises into a message on stderr and an exit code."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except BrokenPipeError:
            _silence_stdout()
            raise click.exceptions.Exit(IO_FAILED) from None
        except (Exception, KeyboardInterrupt) as error:
            if ctx.meta.get(_DEBUG):
                raise
            click.echo(f"sightline: {sentence(error)}", err=True)
            raise click.exceptions.Exit(exit_code(error)) from None


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
    """Point stdout at nothing: whoever read it has gone, and the last flush must not complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
