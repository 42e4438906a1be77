"""Rules for every file of the project that no linter states."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "sightline"
SOURCES = sorted(PACKAGE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("test_*.py"))
FOLDERS = ("src", "tests", "docs", "benchmarks", "examples", ".ci")
SUFFIXES = {"", ".py", ".md", ".toml", ".yaml", ".cff", ".txt"}

OPTIONAL = {"cupy", "jax", "torch"}

ABOUT_THE_WHOLE = {"architecture", "contracts", "reference"}
"""Folders of tests that are not about one module."""

SOMEBODYS_MACHINE = re.compile(r"(?<![\w.])/(work|tmp|home|root|Users)/")


def written_files() -> list[Path]:
    inside = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*")]
    return [
        file
        for file in [*ROOT.iterdir(), *inside]
        if file.is_file() and file.suffix in SUFFIXES and not file.name.startswith(".coverage")
    ]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_module_says_what_it_is(path):
    assert ast.get_docstring(ast.parse(path.read_text()))


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_file_is_short(path):
    assert len(path.read_text().splitlines()) <= 300


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_only_the_command_line_prints(path):
    if path.relative_to(PACKAGE).parts[0] in {"cli", "cli.py"}:
        return
    calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    printing = [
        call.lineno
        for call in calls
        if isinstance(call.func, ast.Name) and call.func.id == "print"
    ]
    assert printing == []


@pytest.mark.parametrize("path", TESTS, ids=relative)
def test_test_file_is_named_after_what_it_tests(path):
    """tests/test_x_more.py is about sightline.x, tests/p/test_y.py about sightline.p."""
    place = path.relative_to(ROOT / "tests")
    folder = place.parts[0] if len(place.parts) > 1 else None
    subject = folder or place.stem.removeprefix("test_")
    modules = {module.stem.lstrip("_") for module in PACKAGE.iterdir()} - {"", "init"}
    assert subject in ABOUT_THE_WHOLE or any(
        subject == module or subject.startswith(f"{module}_") for module in modules
    )


@pytest.mark.parametrize("path", TESTS, ids=relative)
def test_test_file_loads_without_optional_libraries(path):
    """A test that needs one takes it by `pytest.importorskip`."""
    body = ast.parse(path.read_text()).body
    plain = {alias.name for line in body if isinstance(line, ast.Import) for alias in line.names}
    sources = {line.module for line in body if isinstance(line, ast.ImportFrom)}
    assert not {name.partition(".")[0] for name in plain | sources} & OPTIONAL


@pytest.mark.parametrize("path", written_files(), ids=relative)
def test_no_path_of_somebodys_machine(path):
    assert not SOMEBODYS_MACHINE.search(path.read_text(encoding="utf-8"))
