"""Rules for every file of the project that no linter states."""

import ast
import re
from pathlib import Path

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
        if file.is_file()
        and file.suffix in SUFFIXES
        and file.name != ".git"  # of a work tree: git's own
        and not file.name.startswith(".coverage")
    ]


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(line: ast.stmt) -> list[str]:
    if isinstance(line, ast.Import):
        return [alias.name for alias in line.names]
    return [line.module or ""] if isinstance(line, ast.ImportFrom) else []


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_every_module_says_what_it_is():
    silent = [relative(path) for path in SOURCES if not ast.get_docstring(parsed(path))]
    assert silent == []


def test_files_are_short():
    pages = [path for kind in ("css", "html", "js") for path in PACKAGE.rglob(f"*.{kind}")]
    lengths = {
        relative(path): len(path.read_text(encoding="utf-8").splitlines())
        for path in [*SOURCES, *pages]
    }
    assert {path: length for path, length in lengths.items() if length > 300} == {}


def test_only_the_command_line_prints():
    library = [path for path in SOURCES if path.relative_to(PACKAGE).parts[0] != "cli"]
    printing = [
        f"{relative(path)}:{node.lineno}"
        for path in library
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert printing == []


def test_test_files_are_named_after_what_they_test():
    """tests/test_x_more.py is about sightline.x, everything in tests/p about sightline.p."""
    modules = {module.stem.lstrip("_") for module in PACKAGE.iterdir()} - {"", "init", "version"}
    places = {path: path.relative_to(ROOT / "tests") for path in TESTS}
    subjects = {
        path: place.parts[0] if len(place.parts) > 1 else place.stem.removeprefix("test_")
        for path, place in places.items()
    }
    astray = [
        relative(path)
        for path, subject in subjects.items()
        if subject not in ABOUT_THE_WHOLE
        and not any(f"{subject}_".startswith(f"{module}_") for module in modules)
    ]
    assert astray == []


def test_test_files_load_without_optional_libraries():
    """A test that needs one takes it by `pytest.importorskip`."""
    outright = [
        f"{relative(path)}:{line.lineno}"
        for path in TESTS
        for line in parsed(path).body
        if {name.partition(".")[0] for name in imported(line)} & OPTIONAL
    ]
    assert outright == []


def test_no_path_of_somebodys_machine():
    found = [
        relative(path)
        for path in written_files()
        if SOMEBODYS_MACHINE.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []
