"""`transform` and `report`: a saved model on other rows."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from sightline.estimators import ProjectionOutliers, ProjectionPursuit
from sightline.models import save_model


@pytest.fixture
def model(planted, tmp_path):
    columns = [f"m{i}" for i in range(6)]
    estimator = ProjectionPursuit(n_components=2, random_state=0).fit(planted[columns])
    return save_model(estimator, tmp_path / "model.sightline"), estimator


def test_scores_on_standard_output(run, model, table, planted):
    path, estimator = model
    result = run("transform", path, table, "--label-column", "kind")
    assert result.exit_code == 0
    scores = pd.read_csv(io.StringIO(result.stdout))
    assert list(scores) == ["row", "label", "direction_1", "direction_2"]
    expected = estimator.transform(planted[[f"m{i}" for i in range(6)]])
    np.testing.assert_allclose(scores[["direction_1", "direction_2"]], expected, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("s.parquet", pa.parquet.read_table),
        ("s.arrow", pa.feather.read_table),
        ("s.csv", lambda path: pa.Table.from_pandas(pd.read_csv(path))),
    ],
)
def test_scores_in_a_file(name, read, run, model, table):
    result = run("transform", model[0], table, "--output", name)
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "Wrote 600 rows" in result.stderr
    assert read(name).column_names == ["row", "direction_1", "direction_2"]


def test_columns_are_matched_by_name(run, model, planted, tmp_path):
    planted[planted.columns[::-1]].to_csv(tmp_path / "turned.csv", index=False)
    planted.to_parquet(tmp_path / "table.parquet")
    turned = run("transform", model[0], "turned.csv")
    straight = run("transform", model[0], "table.parquet")
    assert turned.exit_code == 0
    first, second = (pd.read_csv(io.StringIO(r.stdout)) for r in (turned, straight))
    np.testing.assert_allclose(first, second, atol=1e-12)


def test_one_row_is_enough(run, model, planted, tmp_path):
    planted[:1].to_csv(tmp_path / "one.csv", index=False)
    assert len(run("transform", model[0], "one.csv").stdout.splitlines()) == 2


def test_a_model_without_names_takes_as_many_columns(run, planted, tmp_path):
    values = planted[[f"m{i}" for i in range(6)]].to_numpy()
    save_model(ProjectionPursuit(random_state=0).fit(values), tmp_path / "m.sightline")
    np.save(tmp_path / "six.npy", values)
    np.save(tmp_path / "five.npy", values[:, :5])
    assert run("transform", "m.sightline", "six.npy").exit_code == 0
    result = run("transform", "m.sightline", "five.npy")
    assert result.exit_code == 65
    assert "5 columns of numbers; the model takes 6" in result.stderr


@pytest.mark.parametrize("command", ["transform", "report"])
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nothing.sightline", "table.csv"], 66, "no model file nothing.sightline"),
        (["table.csv", "table.csv"], 65, "no model file, or is damaged"),
        (["model.sightline", "nothing.csv"], 66, "no file nothing.csv"),
        (["model.sightline", "other.csv"], 65, "no column 'm0'"),
        (["model.sightline", "table.csv", "--columns", "m0"], 2, "the model knows its columns"),
        (["model.sightline", "table.csv", "--output", "table.csv"], 2, "--force"),
        (["model.sightline", "table.csv", "--output", "no/such/place.csv"], 74, "no such folder"),
    ],
)
def test_errors_have_their_code(  # noqa: PLR0917
    command, arguments, code, words, run, model, table, tmp_path
):
    (tmp_path / "other.csv").write_text("a,b\n1,2\n5,3\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    result = run(command, *arguments)
    assert result.exit_code == code
    assert words in result.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", ["transform", "report"])
def test_a_model_without_directions_is_named(command, run, table, planted):
    rows = planted[[f"m{i}" for i in range(6)]]
    save_model(ProjectionOutliers(random_state=0).fit(rows), "outliers.sightline")
    result = run(command, "outliers.sightline", table)
    assert result.exit_code == 65
    assert "a ProjectionOutliers, which has no directions" in result.stderr


def test_the_page_of_other_rows(run, model, table, tmp_path):
    result = run("report", model[0], table, "--label-column", "kind", "--title", "Two <kinds>")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.strip() == "table-report.html"
    page = (tmp_path / "table-report.html").read_text()
    assert "Two &lt;kinds&gt;" in page
    assert run("report", model[0], table).exit_code == 2
    assert (
        run("report", model[0], table, "--force", "--output", "table-report.html").exit_code == 0
    )
