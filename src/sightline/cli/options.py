"""Options that several commands share, and the configuration file that can hold any of them."""

from __future__ import annotations

import csv
import errno
import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sightline.cli.errors import debug_option

if TYPE_CHECKING:
    from sightline.sources import Request

Command = Callable[..., Any]

FILES = ("model.sightline", "scores.parquet", "directions.parquet", "report.html")
"""What `find` writes, in the order in which it is finished."""


def _names(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    """Split `a,b` and `a,"b,c"` at commas, as a CSV file does."""
    return tuple(name.strip() for row in csv.reader(values, skipinitialspace=True) for name in row)


def _read_config(ctx: click.Context, _: click.Parameter, path: Path | None) -> None:
    """Take options from the command's table of a TOML file; the command line wins."""
    if path is None:
        return
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise click.UsageError(f"{path} is no TOML file: {error}.") from error
    command = ctx.command
    section = content.get(command.name or "", {})
    known = {
        option.lstrip("-").replace("-", "_"): parameter.name
        for parameter in command.params
        for option in parameter.opts
        if option.startswith("--") and parameter.name not in {"config", "help", None}
    }
    if not isinstance(section, dict):
        raise click.UsageError(f"{path}: [{command.name}] must be a table of options.")
    for key in section:
        if key.replace("-", "_") not in known:
            raise click.UsageError(
                f"{path}: [{command.name}] has no option {key!r}. It knows "
                f"{', '.join(sorted(name.replace('_', '-') for name in known))}."
            )
    defaults = {known[key.replace("-", "_")]: value for key, value in section.items()}
    ctx.default_map = {**(ctx.default_map or {}), **defaults}


def common_options(command: Command) -> Command:
    """Add `--quiet`, `--config` and `--debug`."""
    for option in (
        click.option("--quiet", is_flag=True, help="Say nothing on stderr but errors."),
        click.option(
            "--config",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            is_eager=True,
            expose_value=False,
            callback=_read_config,
            help="TOML file with a table of options for each command, such as [find].",
        ),
        debug_option,
    ):
        command = option(command)
    return command


def data_options(command: Command) -> Command:
    """Add the options that say what to take from a source of rows."""
    for option in reversed(
        (
            click.option(
                "--columns",
                multiple=True,
                callback=_names,
                metavar="NAMES",
                help="Use these columns, separated by commas; all columns of numbers otherwise.",
            ),
            click.option(
                "--drop", multiple=True, callback=_names, metavar="NAMES", help="Leave these out."
            ),
            click.option(
                "--label-column",
                metavar="NAME",
                help="Colour by this column. It is never looked at when searching.",
            ),
            click.option(
                "--missing",
                type=click.Choice(["error", "drop", "median"]),
                default="error",
                show_default=True,
                help="Missing values: stop, drop their rows, or fill in the column's median.",
            ),
            click.option("--array", metavar="NAME", help="Which array of a .npz, .zarr or .h5ad."),
            click.option("--encoding", default="utf-8", show_default=True, help="Of a text file."),
            click.option(
                "--no-header", is_flag=True, help="A text file's first line holds data already."
            ),
            click.option(
                "--max-memory",
                metavar="SIZE",
                help="Memory that reading may take, such as 2G; half of the machine's otherwise.",
            ),
        )
    ):
        command = option(command)
    return command


def make_request(options: dict[str, Any]) -> Request:
    """Return what the data options ask for."""
    from sightline.sources import Request, parse_memory

    size = options["max_memory"]
    try:
        limit = None if size is None else parse_memory(size)
    except ValueError as error:
        raise click.UsageError(f"--max-memory: {error}") from error
    return Request(
        columns=options["columns"] or None,
        drop=options["drop"],
        label_column=options["label_column"],
        missing=options["missing"],
        array=options["array"],
        encoding=options["encoding"],
        header=not options["no_header"],
        max_memory=limit,
    )


def check_unwritten(path: Path, *, force: bool) -> None:
    """Refuse to write over what is there, unless that is asked for."""
    if path.exists() and not force:
        raise click.UsageError(f"{path} exists. Use --force to overwrite it, or another --output.")


def check_writable(folder: Path) -> None:
    """Refuse a folder that can't be written to or made, before any work is done for it."""
    there = next(place for place in (folder, *folder.absolute().parents) if place.exists())
    if not there.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(there))
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "is not writable", str(there))


def check_target(path: Path, *, force: bool) -> None:
    """Refuse a file that is there, and one whose folder is not, or can't be written to."""
    check_unwritten(path, force=force)
    if not path.absolute().parent.exists():
        raise FileNotFoundError(errno.ENOENT, "no such folder", str(path.parent))
    check_writable(path.absolute().parent)


def stem(data: str) -> str:
    """Return the name that outputs for a source of rows begin with."""
    return "stdin" if data == "-" else Path(data).name.split(".", 1)[0] or "table"
