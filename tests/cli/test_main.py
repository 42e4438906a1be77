"""The command as a whole: start-up, help, configuration, colours, errors, completion."""

import os
import resource
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from sightline.cli import main
from sightline.cli.console import bar, messages, working
from sightline.cli.errors import GuardedGroup, debug_option

PROGRAM = "from sightline.cli import main; main()"


def shell(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_help_loads_no_library_of_numbers():
    """Start-up has 0.3 s; numpy alone would take a third of them."""
    program = f"import sys\ntry:\n    {PROGRAM}\nfinally:\n    print(*sys.modules)"
    outcome = subprocess.run(
        [sys.executable, "-c", program, "--help"], capture_output=True, text=True, check=True
    )
    heavy = {"numpy", "pyarrow", "sklearn", "scipy", "matplotlib", "rich", "narwhals"}
    assert not heavy & set(outcome.stdout.split())


def test_help_is_quick():
    """In seconds of the processor, which other processes on the machine do not lengthen much."""

    def seconds():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert shell("--help").returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    assert min(seconds() for _ in range(5)) < 0.3


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_command_explains_itself_with_an_example(name):
    result = CliRunner().invoke(main, [name, "--help"])
    assert result.exit_code == 0
    assert "Example" in result.stdout
    assert f"sightline {name}" in result.stdout
    undescribed = [
        parameter.name
        for parameter in main.commands[name].params
        if isinstance(parameter, click.Option)
        and not parameter.help
        and parameter.name not in {"rows", "columns", "seed"}
    ]
    assert undescribed == []


def test_the_version():
    assert CliRunner().invoke(main, ["--version"]).stdout.startswith("sightline, version 0.")


def test_completion_for_the_shell():
    outcome = shell(_SIGHTLINE_COMPLETE="bash_source")
    assert outcome.returncode in {0, 2}
    script = CliRunner().invoke(
        main, prog_name="sightline", env={"_SIGHTLINE_COMPLETE": "bash_source"}
    )
    assert "complete" in script.output


def test_options_from_a_file_and_the_command_line_wins(run, table, tmp_path):
    (tmp_path / "c.toml").write_text(
        '[find]\ncolumns = ["m0,m1", "m2"]\nseed = 7\ndirections = 2\n[transform]\nx = 1\n'
    )
    result = run("find", table, "--config", "c.toml", "--json")
    assert result.exit_code == 0, result.stderr
    assert '"seed": 7' in result.stdout
    assert '"columns": 3' in result.stdout
    result = run("find", table, "--config", "c.toml", "--json", "--seed", "8", "--force")
    assert '"seed": 8' in result.stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[find]\nsede = 3", "[find] has no option 'sede'"),
        ("[find\n", "no TOML file"),
        ("find = 3", "must be a table"),
        ("[find]\nseed = -1", "seed"),
        (b"\xff\xfe", "no TOML file"),
    ],
)
def test_a_wrong_file_is_a_usage_error(content, words, run, table, tmp_path):
    (tmp_path / "c.toml").write_bytes(content if isinstance(content, bytes) else content.encode())
    result = run("find", table, "--config", "c.toml")
    assert result.exit_code == 2
    assert words in result.stderr


def test_no_colours_nor_marks_in_a_pipe(table):
    result = shell("find", str(table), "--output", str(table.parent / "out"))
    assert result.returncode == 0, result.stderr
    assert "\x1b" not in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ValueError("x=3 is\nwrong. Use 4."), 65, "sightline: x=3 is wrong. Use 4."),
        (MemoryError(), 65, "MemoryError"),
        (OSError(13, "Permission denied", "a.csv"), 74, "a.csv: permission denied. Check"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (RuntimeError("odd"), 1, "unexpected RuntimeError: odd. Run again with --debug"),
    ],
)
def test_errors_are_a_sentence_and_a_code(error, code, words):
    @click.group(cls=GuardedGroup)
    def group():
        pass

    @group.command()
    @debug_option
    def fail():
        raise error

    result = CliRunner().invoke(group, ["fail"])
    assert result.exit_code == code
    assert words in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_debug_shows_the_traceback(table):
    result = shell("find", str(table), "--columns", "nope", "--debug")
    assert "Traceback" in result.stderr
    assert "DataError" in result.stderr


def test_a_reader_that_goes_away_is_no_drama(table, tmp_path):
    """As in `sightline ... | head -1`."""
    folder = tmp_path / "out"
    assert shell("find", str(table), "--output", str(folder)).returncode == 0
    program = [sys.executable, "-c", PROGRAM, "transform", str(folder / "model.sightline")]
    with subprocess.Popen(
        [*program, str(table)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.close()
        stderr = process.stderr.read()
        assert process.wait() in {0, 74}
    assert "Traceback" not in stderr
    assert "Exception ignored" not in stderr


class Terminal:
    """A stream that says it is a terminal, and remembers."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    """Make stderr a terminal, from within a test: pytest has its own between the phases."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)

    def open_terminal():
        stream = Terminal()
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return open_terminal


def test_a_bar_appears_on_a_terminal_after_two_seconds(terminal, monkeypatch):
    stream = terminal()
    clock = iter(range(100))
    monkeypatch.setattr("sightline.cli.console.time.monotonic", lambda: next(clock) * 1.5)
    with bar(messages(), "Reading") as progress:
        progress(0.25)
        early = stream.text
        progress(0.5)
    assert "Reading" not in early
    assert "Reading" in stream.text


def test_there_is_no_bar_without_a_terminal():
    with bar(messages(), "Reading") as progress:
        assert progress is None


def test_a_mark_moves_on_a_terminal_and_quiet_stops_it(terminal):
    stream = terminal()
    with working(messages(), "Searching"):
        pass
    assert "Searching" in stream.text
    stream.text = ""
    with working(messages(quiet=True), "Searching"):
        pass
    assert stream.text == ""


def test_the_package_runs_as_the_command():
    outcome = subprocess.run(
        [sys.executable, "-m", "sightline", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert outcome.stdout == shell("--version").stdout


def test_the_list_of_commands_cuts_no_sentence_off():
    commands = shell("--help").stdout.partition("Commands:")[2]
    assert commands.count("\n  ") >= 7
    assert "..." not in commands
