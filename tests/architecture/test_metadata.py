"""The files around the code agree with it and with each other."""

import re
import tomllib
from importlib.metadata import requires, version
from pathlib import Path

import pytest
import yaml

import sightline

ROOT = Path(__file__).parents[2]
ARCHITECTURE = ROOT / "docs" / "architecture.md"


@pytest.fixture(scope="module")
def pyproject() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture(scope="module")
def citation() -> dict:
    return yaml.safe_load((ROOT / "CITATION.cff").read_text())


def test_installed_version_is_the_one_in_the_source():
    assert version("sightline") == sightline.__version__


def test_installed_requirements_are_the_declared_ones(pyproject):
    core = [line for line in requires("sightline") or [] if "extra ==" not in line]
    names = [re.match(r"[\w-]+", line).group() for line in core]
    declared = [re.match(r"[\w-]+", line).group() for line in pyproject["project"]["dependencies"]]
    assert sorted(names) == sorted(declared)


def test_type_marker_is_in_the_package_that_the_wheel_takes(pyproject):
    packages = pyproject["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert [(ROOT / package / "py.typed").is_file() for package in packages] == [True]


def test_every_dependency_has_a_lowest_version(pyproject):
    project = pyproject["project"]
    extras = [line for extra in project["optional-dependencies"].values() for line in extra]
    assert [line for line in project["dependencies"] + extras if ">=" not in line] == []


def test_python_classifiers_start_at_the_required_python(pyproject):
    project = pyproject["project"]
    minors = [
        int(classifier.rpartition(".")[2])
        for classifier in project["classifiers"]
        if classifier.startswith("Programming Language :: Python :: 3.")
    ]
    assert minors == list(range(minors[0], minors[-1] + 1))
    assert project["requires-python"] == f">=3.{minors[0]}"


def test_citation_is_complete_and_of_this_version(citation):
    required = {"cff-version", "message", "title", "authors"}  # by the Citation File Format 1.2.0
    assert required <= citation.keys()
    assert citation["version"] == sightline.__version__


def test_citation_and_package_have_one_licence(citation, pyproject):
    assert citation["license"] == pyproject["project"]["license"]


def test_citation_names_the_paper_and_its_authors(citation):
    paper = citation["preferred-citation"]
    assert paper["title"] == (
        "Recovering Imbalanced Clusters via Gradient-Based Projection Pursuit"
    )
    assert [author["family-names"] for author in paper["authors"]] == [
        "Eppert",
        "Mukherjee",
        "Ghoshdastidar",
    ]


def test_documented_layers_are_the_checked_ones(pyproject):
    block = re.search(r"```layers\n(.+?)```", ARCHITECTURE.read_text(), re.DOTALL).group(1)
    contract = pyproject["tool"]["importlinter"]["contracts"][0]
    assert block.splitlines() == contract["layers"]


def test_documented_modules_are_the_ones_that_there_are():
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \|$", ARCHITECTURE.read_text(), re.MULTILINE)
    package = Path(sightline.__file__).parent
    modules = {path.stem for path in package.glob("*.py")} | {
        path.parent.name for path in package.glob("*/__init__.py")
    }
    assert set(rows) == modules - {"__init__", "__main__", "_version"}


def test_changelog_has_an_open_section_first():
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"


def test_hooks_download_nothing():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    assert {repository["repo"] for repository in hooks["repos"]} == {"local"}
    languages = [hook["language"] for repository in hooks["repos"] for hook in repository["hooks"]]
    assert set(languages) == {"system"}
