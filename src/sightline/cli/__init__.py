"""The command `sightline`: one file a command, heavy imports inside the commands.

Results go to stdout, progress and messages to stderr. Exit codes: 0 fine, 2 usage, 65 bad data,
66 no input, 74 input or output failed, 130 interrupted.
"""

from __future__ import annotations

import click

from sightline._version import __version__
from sightline.cli.bench import bench
from sightline.cli.demo import demo
from sightline.cli.errors import GuardedGroup
from sightline.cli.find import find
from sightline.cli.plan import plan
from sightline.cli.report import report
from sightline.cli.reproduce import reproduce
from sightline.cli.transform import transform


@click.group(
    cls=GuardedGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 fine, 2 usage, 65 bad data, 66 no input, 74 I/O, 130 interrupted.",
)
@click.version_option(__version__, prog_name="sightline")
def main() -> None:
    """Find the directions along which a data table shows its hidden structure."""


for _command in (find, transform, report, plan, demo, reproduce, bench):
    main.add_command(_command)
