"""`find` on tables as people have them: what it prints, writes, refuses and leaves behind."""

import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestCentroid

from sightline.datasets import ImbalancedClusters, make_planted
from sightline.models import load_model
from sightline.report import write_report

FILES = {"directions.parquet", "model.sightline", "report.html", "scores.parquet"}


def found(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_the_rare_group_is_the_small_side_of_the_first_direction(run, table, planted):
    summary = found(run("find", table, "--label-column", "kind", "--json"))
    rare = planted["kind"].to_numpy() == "rare"
    scores = pa.parquet.read_table("table-sightline/scores.parquet").to_pandas()
    np.testing.assert_array_equal(scores["small_side_1"], rare)
    np.testing.assert_array_equal(scores["label"], planted["kind"])
    np.testing.assert_array_equal(scores["row"], np.arange(600))
    first = summary["directions"][0]
    assert first["small_side"] == rare.sum()
    assert first["small_side_above"]
    assert first["share"] == pytest.approx(rare.mean())
    assert first["p_value"] is None
    assert summary["left_out"] == {"id": "identifier"}
    np.testing.assert_array_equal(scores["direction_1"] > first["threshold"], rare)


def test_the_folder_holds_what_is_said(run, table, tmp_path):
    summary = found(run("find", table, "--json", "--directions", "2"))
    folder = tmp_path / "table-sightline"
    assert {path.name for path in folder.iterdir()} == FILES == set(summary["files"])
    directions = pa.parquet.read_table(folder / "directions.parquet").to_pandas()
    assert directions["direction"].tolist() == [1, 2]
    assert list(directions["columns"][0]) == [f"m{i}" for i in range(6)]
    model = load_model(folder / "model.sightline")
    np.testing.assert_array_equal(np.stack(directions["weights"]), model.components_)
    assert list(model.feature_names_in_) == [f"m{i}" for i in range(6)]
    assert "<script" in (folder / "report.html").read_text()


def test_main_columns_are_the_largest_standard_weights(run, table):
    summary = found(run("find", table, "--json"))
    directions = pa.parquet.read_table("table-sightline/directions.parquet").to_pandas()
    for row, said in zip(directions.to_dict("records"), summary["directions"], strict=True):
        weights = dict(zip(row["columns"], row["standard_weights"], strict=True))
        order = sorted(weights, key=lambda column: -abs(weights[column]))[:5]
        assert [main["column"] for main in said["main_columns"]] == order
        assert [main["weight"] for main in said["main_columns"]] == [weights[c] for c in order]


def test_scores_are_the_transform_of_the_rows(run, table, planted):
    found(run("find", table, "--json"))
    model = load_model("table-sightline/model.sightline")
    scores = pa.parquet.read_table("table-sightline/scores.parquet").to_pandas()
    expected = model.transform(planted[[f"m{i}" for i in range(6)]])
    np.testing.assert_allclose(scores[[f"direction_{k}" for k in (1, 2, 3)]], expected, atol=1e-12)


def test_the_table_for_people(run, table):
    result = run("find", table)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].split()[:3] == ["direction", "index", "value"]
    assert "p-value" not in lines[0]
    assert lines[1].split()[:2] == ["1", "relu2"]
    assert "report.html" in result.stdout
    assert "Read 600 rows, 6 columns" in result.stderr
    assert "Left out: 'kind' (text), 'id' (identifier)." in result.stderr


def test_quiet_says_nothing_on_stderr(run, table):
    result = run("find", table, "--quiet")
    assert (result.exit_code, result.stderr) == (0, "")


def test_the_same_seed_writes_the_same_bytes(run, table, tmp_path):
    for folder in ("one", "two"):
        assert run("find", table, "--output", folder, "--seed", "5").exit_code == 0
    for name in FILES - {"report.html"}:
        first, second = (tmp_path / folder / name for folder in ("one", "two"))
        assert first.read_bytes() == second.read_bytes()


def test_p_values_on_request(run, planted, tmp_path):
    planted[["m0", "m1", "m2", "m3"]][:150].to_csv(tmp_path / "t.csv", index=False)
    few = ("--starts", "64", "--whiten", "exact")  # 99 searches take as long as one, 99 times
    asked = ("find", "t.csv", "--json", "--significance", "--directions", "2", *few)
    summary = found(run(*asked, "--index", "relu2"))
    first, second = (direction["p_value"] for direction in summary["directions"])
    assert first == pytest.approx(0.01)
    assert second > 0.05
    summary = found(run(*asked, "--force"))  # two indices were there to choose from
    assert summary["directions"][0]["p_value"] == pytest.approx(0.02)


def test_p_values_are_printed(run, table, monkeypatch):
    values = SimpleNamespace(p_values=np.array([0.01, 0.5, 1.0]))
    monkeypatch.setattr("sightline.cli.search.null_p_values", lambda *args, **kwargs: values)
    lines = run("find", table, "--significance").stdout.splitlines()
    assert lines[0].split()[3] == "p-value"
    assert [line.split()[3] for line in lines[1:4]] == ["0.02", "1", "1"]


@pytest.mark.parametrize(("p_value", "doubted"), [(0.02, False), (0.03, True)])
def test_where_no_p_value_is_small_it_says_so(run, table, monkeypatch, p_value, doubted):
    values = SimpleNamespace(p_values=np.array([p_value, 0.5, 1.0]))  # doubled: two indices
    monkeypatch.setattr("sightline.cli.search.null_p_values", lambda *args, **kwargs: values)
    result = run("find", table, "--significance")
    assert ("No p-value is at most 0.05" in result.stdout) == doubted


@pytest.mark.parametrize("apart", [0, 150])
def test_where_no_modes_are_clear_it_points_at_significance(run, tmp_path, apart):
    rows = np.random.default_rng(0).standard_normal((600, 3))
    rows[:apart, 1] += 9
    pd.DataFrame(rows, columns=list("abc")).to_csv(tmp_path / "t.csv", index=False)
    asked = ("find", "t.csv", "--index", "relu2", "--starts", "64", "--force")
    said = run(*asked).stdout
    assert ("--significance says how often" in said) == (not apart)
    assert found(run(*asked, "--json"))["directions"][0]["clear"] == bool(apart)


def test_a_sample_is_searched_and_all_rows_are_scored(run, table):
    result = run("find", table, "--sample", "200")
    assert result.exit_code == 0
    assert "Searching on 200 rows drawn at random" in result.stderr
    assert pa.parquet.read_table("table-sightline/scores.parquet").num_rows == 600


def test_a_table_larger_than_memory_is_read_in_blocks(run, planted, tmp_path):
    """Twenty thousand rows in a megabyte: what is not sampled is read again to be scored."""
    many = planted.loc[np.arange(20_000) % 600].reset_index(drop=True)
    many["id"] = np.arange(20_000)
    many.to_parquet(tmp_path / "t.parquet", row_group_size=3000)
    arguments = ("find", "t.parquet", "--label-column", "kind", "--sample", "2000", "--json")
    result = run(*arguments, "--max-memory", "1M", "--output", "blocks")
    assert "larger than --max-memory" in result.stderr
    summary = found(result)
    assert (summary["rows"], summary["columns"]) == (20_000, 6)
    assert summary["left_out"] == {"id": "identifier"}
    rare = many["kind"].to_numpy() == "rare"
    assert summary["directions"][0]["small_side"] == rare.sum()
    assert summary["directions"][0]["share"] == pytest.approx(rare.mean())
    scores = pa.parquet.read_table("blocks/scores.parquet").to_pandas()
    np.testing.assert_array_equal(scores["row"], np.arange(20_000))
    np.testing.assert_array_equal(scores["small_side_1"], rare)
    model = load_model("blocks/model.sightline")
    expected = model.transform(many[[f"m{i}" for i in range(6)]])
    np.testing.assert_allclose(scores["direction_1"], expected[:, 0], atol=1e-12)


def test_standard_input_larger_than_memory_is_an_error(run, planted):
    result = run("find", "-", "--max-memory", "1K", stdin=planted.to_csv(index=False))
    assert result.exit_code == 65
    assert "limit" in result.stderr


def test_rows_dropped_for_missing_values_keep_their_numbers(run, planted, tmp_path):
    holed = planted.copy()
    holed.loc[[3, 40], "m2"] = np.nan
    holed.to_csv(tmp_path / "holes.csv", index=False)
    refused = run("find", "holes.csv")
    assert refused.exit_code == 65
    assert "'m2' 2" in refused.stderr
    assert "--missing drop" in refused.stderr
    result = run("find", "holes.csv", "--missing", "drop")
    assert result.exit_code == 0
    rows = pa.parquet.read_table("holes-sightline/scores.parquet")["row"].to_pylist()
    assert rows == [row for row in range(600) if row not in {3, 40}]


def test_fewer_rows_than_columns_are_no_error(run, tmp_path):
    np.save(tmp_path / "wide.npy", np.random.default_rng(0).standard_normal((20, 30)))
    assert len(found(run("find", "wide.npy", "--json"))["directions"]) == 2


def test_too_many_columns_are_an_error_that_says_how_many_may_be(run, tmp_path):
    np.save(tmp_path / "wide.npy", np.random.default_rng(0).standard_normal((8, 4001)))
    result = run("find", "wide.npy")
    assert result.exit_code == 65
    assert "the limit is 4000" in result.stderr


def test_columns_are_named_separated_by_commas(run, planted, tmp_path):
    planted.rename(columns={"m3": "a, b"}).to_csv(tmp_path / "t.csv", index=False)
    summary = found(run("find", "t.csv", "--columns", 'm0,m1,"a, b"', "--columns", "m5", "--json"))
    assert summary["columns"] == 4
    summary = found(run("find", "t.csv", "--drop", "m0,m1", "--json", "--force"))
    assert summary["columns"] == 4


def test_standard_input(run, planted):
    result = run("find", "-", "--json", stdin=planted.to_csv(index=False))
    assert found(result)["source"] == "standard input"
    assert "stdin-sightline" in found(result)["files"]["report.html"]


def test_nothing_is_overwritten_without_force(run, table, tmp_path):
    (tmp_path / "table-sightline").mkdir()
    mine = tmp_path / "table-sightline" / "scores.parquet"
    mine.write_text("mine")
    result = run("find", table)
    assert result.exit_code == 2
    assert "--force" in result.stderr
    assert mine.read_text() == "mine"
    assert run("find", table, "--force").exit_code == 0
    assert pa.parquet.read_table(mine).num_rows == 600


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nothing.csv"], 66, "no file nothing.csv"),
        (["."], 66, "is a folder"),
        (["table.csv", "--columns", "m0,kind"], 65, "holds text, not numbers"),
        (["table.csv", "--columns", "nope"], 65, "no column 'nope'"),
        (["table.csv", "--index", "dip"], 2, "Choose from groups, auto, relu2"),
        (["table.csv", "--index", "nope"], 2, "Choose from groups, auto, relu2"),
        (["table.csv", "--directions", "7"], 2, "more than the 6"),
        (["table.csv", "--directions", "0"], 2, "--directions"),
        (["table.csv", "--max-memory", "lots"], 2, "--max-memory"),
        (["table.csv", "--missing", "guess"], 2, "--missing"),
        (["table.csv", "--rank", "7"], 65, "rank"),
        (["table.csv", "--frobnicate"], 2, "No such option"),
        ([], 2, "Missing argument"),
    ],
)
def test_errors_have_their_code_and_leave_nothing(  # noqa: PLR0917
    arguments, code, words, run, table, tmp_path
):
    result = run("find", *arguments)
    assert result.exit_code == code
    assert words in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_an_interruption_keeps_what_is_finished(run, table, tmp_path, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("sightline.cli.outputs.write_report", interrupt)
    result = run("find", table)
    assert result.exit_code == 130
    assert "Kept table-sightline/model.sightline" in result.stderr
    folder = tmp_path / "table-sightline"
    assert {path.name for path in folder.iterdir()} == FILES - {"report.html"}


def test_an_interruption_of_the_search_leaves_no_folder(run, table, tmp_path, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("sightline.cli.search.search_table", interrupt)
    result = run("find", table)
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (130, "sightline: interrupted.")
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_a_full_disk_leaves_the_old_results(run, table, tmp_path, monkeypatch):
    assert run("find", table).exit_code == 0
    old = (tmp_path / "table-sightline" / "scores.parquet").read_bytes()

    def fill(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sightline.cli.outputs.write_tables", fill)
    result = run("find", table, "--force", "--seed", "3")
    assert result.exit_code == 74
    assert "no space left on device" in result.stderr
    folder = tmp_path / "table-sightline"
    assert (folder / "scores.parquet").read_bytes() == old
    assert {path.name for path in folder.iterdir()} == FILES


def test_the_title_and_labels_reach_the_report(run, table, monkeypatch):
    seen = {}

    def note(path, **arguments):
        seen.update(arguments)
        write_report(path, **arguments)

    monkeypatch.setattr("sightline.cli.outputs.write_report", note)
    assert run("find", table, "--label-column", "kind").exit_code == 0
    assert seen["title"].startswith("table.csv")
    assert set(seen["labels"]) == {"bulk", "rare"}
    assert seen["column_names"] == tuple(f"m{i}" for i in range(6))


@pytest.mark.parametrize(("rare", "index"), [(0.2, "relu2"), (0.45, "absmax")])
def test_of_two_indices_that_show_a_group_the_one_for_its_size_is_taken(
    run, tmp_path, rare, index
):
    X, _, _ = make_planted(600, 5, ImbalancedClusters(rare, spread=0.2), random_state=0)
    pd.DataFrame(X, columns=list("abcde")).to_csv(tmp_path / "t.csv", index=False)
    first = found(run("find", "t.csv", "--starts", "64", "--json"))["directions"][0]
    assert first["clear"]
    assert first["index"] == index
    assert first["share"] == pytest.approx(rare, abs=0.06)


def test_the_three_species_of_flea_beetles_are_apart_along_two_directions(run, data_home):
    path = data_home / "classic" / "flea.csv"
    found(run("find", path, "--output", "out", "--label-column", "species", "--json"))
    scores = pa.parquet.read_table("out/scores.parquet").to_pandas()
    along = scores[["direction_1", "direction_2"]]
    assert NearestCentroid().fit(along, scores["label"]).score(along, scores["label"]) == 1


def test_olive_oils_with_no_options(run, data_home):
    """Forina et al.'s olive oils: 572 rows, 8 fatty acids, a region and an area."""
    summary = found(run("find", data_home / "classic" / "olive.csv", "--json"))
    assert (summary["rows"], summary["columns"]) == (572, 9)
    assert summary["left_out"] == {"area": "text"}
    assert len(summary["directions"]) == 3


def test_regions_of_the_olive_oils_are_apart_along_what_is_found(run, data_home):
    """No group there is small; large ones are clear, and the second index looks for those.

    A linear rule on three scores names the region of 95 oils in 100, one on relu2's 78.
    """
    path = data_home / "classic" / "olive.csv"
    summary = found(run("find", path, "--label-column", "region", "--json"))
    assert {direction["index"] for direction in summary["directions"]} == {"absmax"}
    scores = pa.parquet.read_table("olive-sightline/scores.parquet").to_pandas()
    rule, along = LinearDiscriminantAnalysis(), scores[[f"direction_{k}" for k in (1, 2, 3)]]
    assert rule.fit(along, scores["label"]).score(along, scores["label"]) > 0.94


def test_olive_oils_of_the_south_are_told_apart(run, data_home):
    """Eicosenoic acid sets the 323 oils of the south apart; some direction splits them off."""
    path = data_home / "classic" / "olive.csv"
    found(run("find", path, "--label-column", "region", "--index", "absmax", "--json"))
    scores = pa.parquet.read_table("olive-sightline/scores.parquet").to_pandas()
    south = scores["label"] == "1.0"
    agreement = [
        max(
            (scores[f"small_side_{k}"] == south).mean(),
            (scores[f"small_side_{k}"] != south).mean(),
        )
        for k in (1, 2, 3)
    ]
    assert max(agreement) > 0.98
    assert isinstance(scores, pd.DataFrame)
