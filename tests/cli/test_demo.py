"""The demo finds what it hid, draws it, and overwrites nothing unasked."""

import re

import pytest
from click.testing import CliRunner
from PIL import Image

from sightline.cli import main


def run(*arguments):
    return CliRunner().invoke(main, ["demo", "--rows", "1500", "--columns", "30", *arguments])


def test_the_direction_shows_all_hidden_rows_and_nothing_else_does(tmp_path):
    result = run("--seed", "3", "--output", str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    hidden = int(re.search(r"Hid (\d+) of 1500 rows", result.stderr)[1])
    hits = [int(n) for n in re.findall(r"^(?:best|direction).* (\d+) +\d", result.stdout, re.M)]
    assert len(hits) == 3
    assert hits[2] == hidden
    assert max(hits[:2]) < 0.75 * hidden
    assert float(re.search(r"planted direction: ([\d.]+)", result.stdout)[1]) > 0.98
    assert f"{hidden} rows on the small side, {hidden} of the {hidden}" in result.stdout


def test_the_picture_is_a_picture(tmp_path):
    run("--output", str(tmp_path))
    with Image.open(tmp_path / "demo.png") as picture:
        assert picture.width > 2 * picture.height


def test_the_same_seed_prints_the_same(tmp_path):
    first, second = (run("--quiet", "--output", str(tmp_path), "--force") for _ in range(2))
    assert first.stdout == second.stdout
    assert first.stderr == ""


def test_nothing_is_overwritten_without_force(tmp_path):
    (tmp_path / "demo.png").write_text("mine")
    result = run("--output", str(tmp_path))
    assert result.exit_code == 2
    assert "--force" in result.stderr
    assert (tmp_path / "demo.png").read_text() == "mine"


@pytest.mark.parametrize("rare", ["0", "0.5", "x"])
def test_a_fraction_out_of_range_is_a_usage_error(rare, tmp_path):
    assert run("--rare", rare, "--output", str(tmp_path)).exit_code == 2


def test_a_group_without_rows_is_a_usage_error(tmp_path):
    result = run("--rare", "1e-9", "--output", str(tmp_path))
    assert result.exit_code == 2
    assert "larger --rare" in result.stderr
