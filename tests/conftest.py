"""What every test shares: the array libraries, the real data, property tests that repeat."""

import importlib
import os
from pathlib import Path

import array_api_compat
import pytest
from hypothesis import settings

settings.register_profile(
    "ci", derandomize=True, database=None, deadline=None, max_examples=50, print_blob=True
)
settings.load_profile("ci")

LIBRARIES = {
    "numpy": "numpy",
    "array-api-strict": "array_api_strict",
    "torch": "torch",
    "jax": "jax.numpy",
}


@pytest.fixture(scope="session", params=LIBRARIES)
def xp(request):
    """The array functions of each library in turn."""
    try:
        library = importlib.import_module(LIBRARIES[request.param])
    except ModuleNotFoundError:
        pytest.skip(f"{request.param} is not installed")
    return array_api_compat.array_namespace(library.asarray([0.0]))


@pytest.fixture(scope="session")
def data_home():
    """The folder of real data: SIGHTLINE_DATA, else ../shared/data beside the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("SIGHTLINE_DATA", beside))
    if not folder.is_dir():
        pytest.skip("no real data: set SIGHTLINE_DATA to the folder that holds them")
    return folder
