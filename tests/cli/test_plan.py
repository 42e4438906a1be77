"""What `sightline plan` prints is the plan, as text and as JSON; wrong options are told apart."""

import json
from dataclasses import asdict

import click
import pytest

from sightline.cli import main
from sightline.theory import plan_samples, rarest_part
from sightline.theory.plan import MOST_COLUMNS, MOST_ROWS
from sightline.theory.plan_fit import FAMILIES, METHODS


def test_the_text_is_the_plan_s(run):
    result = run("plan", "--dim", 300, "--rare", 0.02)
    assert result.exit_code == 0, result.output
    assert result.stdout == f"{plan_samples(300, 0.02)}\n"
    assert result.stderr == ""


def test_json_holds_the_same_numbers(run):
    options = ("--dim", 64, "--rare", 0.1, "--signal", "sparse", "--confidence", 0.5)
    result = run("plan", *options, "--json")
    plan = asdict(plan_samples(64, 0.1, "sparse", 0.5))
    assert json.loads(result.stdout) == {**plan, "needs": list(plan["needs"])}


def test_extrapolation_is_said_in_text_and_json(run):
    for options, said in (
        (("--dim", 10**6, "--rare", 0.02), True),
        (("--dim", 64, "--rare", 0.1), False),
        (("--dim", 10**6, "--rows", 10**7), True),
    ):
        assert ("extrapolated" in run("plan", *options).stdout) == said
        content = json.loads(run("plan", *options, "--json").stdout)
        lines = content.get("needs") or content["shown"]
        assert any(line["extrapolated"] for line in lines) == said


def test_the_question_turned_round_has_a_line_a_method(run):
    result = run("plan", "--dim", 64, "--rows", 1000, "--confidence", 0.8)
    parts = [rarest_part(1000, 64, confidence=0.8, method=method) for method in METHODS]
    assert result.stdout.splitlines() == [str(part) for part in parts]
    assert "two" not in result.stdout
    assert "paper's algorithm: 1,000 rows of 64 columns are too few" in result.stdout


def test_json_of_the_question_turned_round(run):
    options = ("plan", "--dim", 64, "--rows", 1000, "--signal", "sparse", "--json")
    content = json.loads(run(*options).stdout)
    shown = content.pop("shown")
    assert content == {"n": 1000, "d": 64, "signal": "sparse", "confidence": 0.9}
    for line in shown:
        part = asdict(rarest_part(1000, 64, "sparse", method=line["method"]))
        assert line == {name: part[name] for name in line}
    assert [line["method"] for line in shown] == list(METHODS)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--rare", 0.7), "--rare=0.7 must be a finite number in [1e-12, 0.5)"),
        (("--rare", 0), "--rare=0.0 must be a finite number in [1e-12, 0.5)"),
        (("--rare", -0.1), "--rare=-0.1 must be a finite number in [1e-12, 0.5)"),
        (("--rare", "nan"), "--rare=nan must be a finite number in [1e-12, 0.5)"),
        (
            ("--rare", 0.4, "--signal", "sparse"),
            "--rare=0.4 must be a finite number in [1e-12, 0.3",
        ),
        (("--rare", "x"), "'--rare': 'x' is not a valid float"),
        (("--rare", 0.1, "--confidence", 1), "--confidence=1.0 must be a finite number in (0, 1)"),
        (("--rows", 9, "--confidence", "inf"), "--confidence=inf must be a finite number in (0"),
        (("--rare", 0.1, "--signal", "blob"), "'blob' is not one of 'clusters', 'sparse'"),
        (("--rows", 0), "'--rows': 0 is not in the range 1<=x<=1000000000000000"),
        (("--dim", 1, "--rows", 9), "'--dim': 1 is not in the range 2<=x<=1000000000"),
        ((), "give one of --rare, to be told"),
        (("--rare", 0.1, "--rows", 9), "give one of --rare, to be told"),
    ],
)
def test_wrong_options_are_usage_errors_with_the_value_and_the_range(options, words, run):
    result = run("plan", "--dim", 300, *options)
    assert result.exit_code == 2
    assert words in result.stderr
    assert result.stdout == ""


def test_dim_is_required(run):
    result = run("plan", "--rare", 0.1)
    assert result.exit_code == 2
    assert "--dim" in result.stderr


def test_names_and_limits_are_those_of_the_library():
    """They are written out in the command, so that its help loads no library of numbers."""
    options = {option.name: option.type for option in main.commands["plan"].params}
    assert isinstance(options["signal"], click.Choice)
    assert tuple(options["signal"].choices) == tuple(FAMILIES)
    assert (options["dim"].min, options["dim"].max) == (2, MOST_COLUMNS)
    assert (options["rows"].min, options["rows"].max) == (1, MOST_ROWS)


@pytest.mark.parametrize("signal", FAMILIES)
@pytest.mark.parametrize("confidence", [1e-300, 0.999999999])
def test_every_value_within_the_limits_has_an_answer(signal, confidence, run):
    for dim in (2, 10**9):
        options = ("--dim", dim, "--signal", signal, "--confidence", confidence)
        near_limit = 0.999999 * FAMILIES[signal].limit
        for question in (("--rare", 1e-12), ("--rare", near_limit), ("--rows", 10**15)):
            result = run("plan", *options, *question, "--json")
            assert result.exit_code == 0, result.output
