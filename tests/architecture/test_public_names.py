"""`import sightline` is light and silent, and what it promises is there and explained."""

import inspect
import subprocess
import sys

import pytest

import sightline

NEWLY_LOADED = """
import sys
before = set(sys.modules)
import sightline
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""


def test_import_is_silent_and_loads_no_other_library():
    outcome = subprocess.run(
        [sys.executable, "-W", "error", "-c", NEWLY_LOADED],
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(outcome.stdout.split())
    assert outcome.stderr == ""
    assert "sightline" in loaded
    assert loaded - {"sightline"} <= sys.stdlib_module_names


def test_star_import_gives_exactly_the_public_names():
    command = "from sightline import *; print(*(name for name in dir() if name[:2] != '__'))"
    outcome = subprocess.run(
        [sys.executable, "-c", command], capture_output=True, text=True, check=True
    )
    assert set(outcome.stdout.split()) == set(sightline.__all__) - {"__version__"}


def test_public_names_are_listed_once_and_visible():
    assert len(set(sightline.__all__)) == len(sightline.__all__)
    assert set(sightline.__all__) <= set(dir(sightline))


@pytest.mark.parametrize("name", sorted(set(sightline.__all__) - {"__version__"}))
def test_public_name_is_ours_and_explained(name):
    thing = getattr(sightline, name)
    home = thing.__name__ if inspect.ismodule(thing) else thing.__module__
    assert home.startswith("sightline.")
    assert inspect.getdoc(thing)


def test_unknown_name_is_an_attribute_error_that_names_it():
    with pytest.raises(AttributeError, match="no attribute 'gradient_descent'"):
        _ = sightline.gradient_descent
