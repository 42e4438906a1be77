"""A module imports only from lower layers, and no imports go round in a circle."""

import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import grimp
import pytest

ROOT = Path(__file__).parents[2]

LINT_IMPORTS = "from importlinter.cli import lint_imports_command as main; main()"


def test_layers_of_pyproject_hold():
    outcome = subprocess.run(
        [sys.executable, "-c", LINT_IMPORTS, "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    graph = grimp.build_graph("sightline", cache_dir=None)
    return {
        module: set(graph.find_modules_directly_imported_by(module)) for module in graph.modules
    }


def test_no_import_cycle(imports):
    TopologicalSorter(imports).prepare()  # raises CycleError, which names the circle


def test_nothing_inside_imports_the_public_names(imports):
    within = [module for module, targets in imports.items() if "sightline" in targets]
    assert within == [], "import from the module that has the name, not from the package's top"
