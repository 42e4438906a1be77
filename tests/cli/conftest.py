"""Running commands as a user does, and tables to run them on."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from sightline.cli import main
from sightline.datasets import ImbalancedClusters, make_planted


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a command in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, stdin=None):
        return CliRunner().invoke(main, [str(argument) for argument in arguments], input=stdin)

    return run


@pytest.fixture(scope="session")
def planted():
    """600 rows with a group of about one in ten, as a frame, and its labels."""
    signal = ImbalancedClusters(0.1, spread=0.3)
    X, _, labels = make_planted(600, 6, signal, random_state=1)
    frame = pd.DataFrame(X, columns=[f"m{i}" for i in range(6)])
    frame["kind"] = np.array(["bulk", "rare"])[labels]
    frame["id"] = np.arange(600) + 17
    return frame


@pytest.fixture
def table(planted, tmp_path):
    planted.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"
