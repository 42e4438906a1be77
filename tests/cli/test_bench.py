"""The command's output and options; what it measures is tested in tests/benchmarking."""

import json

import pytest
from click.testing import CliRunner

from sightline import benchmarking
from sightline.benchmarking import BENCHMARKS, Report
from sightline.cli import main
from sightline.cli.bench import _NAMES


@pytest.fixture
def asked(monkeypatch):
    """Benchmarks that take no time, and a list of what they were asked."""
    calls = []

    def instead(name):
        def measure(seed, rounds):
            calls.append((name, seed, rounds))
            return Report(f"The {name}", [{"task": name, "seconds": 0.1234567}], ("A note.",))

        return measure

    monkeypatch.setattr(benchmarking, "BENCHMARKS", {name: instead(name) for name in _NAMES})
    return calls


def test_names_are_those_of_the_registry():
    assert tuple(BENCHMARKS) == _NAMES


def test_tables_come_after_the_machine(asked):
    outcome = CliRunner().invoke(main, ["bench", "fit", "--rounds", "2", "--seed", "7"])
    assert outcome.exit_code == 0, outcome.output
    assert asked == [("fit", 7, 2)]
    lines = outcome.stdout.splitlines()
    assert lines[0].startswith("processor: ")
    assert any(line.startswith("blas: ") for line in lines)
    assert "seed: 7, rounds: 2" in lines
    assert lines[-3:] == ["task  seconds", "fit     0.123", "A note."]


def test_json_holds_the_same_with_all_digits(asked):
    outcome = CliRunner().invoke(main, ["bench", "--json"])
    document = json.loads(outcome.stdout)
    assert [name for name, _, _ in asked] == list(_NAMES)
    assert document["seed"] == 0
    assert document["hardware"]["numpy"]
    assert document["benchmarks"]["step"] == {
        "title": "The step",
        "rows": [{"task": "step", "seconds": 0.1234567}],
        "notes": ["A note."],
    }


def test_unknown_name_is_a_usage_error():
    outcome = CliRunner().invoke(main, ["bench", "speed"])
    assert outcome.exit_code == 2
    assert "'step', 'fit', 'cost', 'peers'" in outcome.stderr
