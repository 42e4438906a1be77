"""The file: complete or absent, small, self-contained, and right about what it does not draw."""

import base64
import copy
import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from sightline import ProjectionPursuit, SpectralPursuit
from sightline.report import write_report
from sightline.split import split_in_two


def data_of(path) -> dict:
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL).group(1))


def test_the_page_names_no_other_address(report):
    text = report.read_text(encoding="utf-8")
    addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"'<]*", text))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, which nothing asks for
    assert re.findall(r'(?:src|href)="(?!#|data:)[^"]*"', text) == []
    assert "default-src 'none'" in text


def test_the_same_input_gives_the_same_page(example, report, tmp_path):
    again = example.write(tmp_path / "again.html")
    assert again.read_bytes() == report.read_bytes()


def test_the_page_says_what_is_in_it(report, example):
    text = report.read_text(encoding="utf-8")
    assert "400 rows of 5 columns, seen along 3 directions that ProjectionPursuit found" in text
    assert "p = 0.01" in text
    for row in np.argsort(example.scores[:, 0])[-5:]:
        assert f"<bdi>row-{row}</bdi>" in text
    assert data_of(report)["ids"]["texts"] == example.ids


def test_without_labels_ids_and_p_values(example, tmp_path):
    path = example.write(tmp_path / "bare.html", labels=None, row_ids=None, p_values=None)
    data = data_of(path)
    assert data["groups"][0]["name"] == "bulk"
    numbers = np.frombuffer(base64.b64decode(data["ids"]["numbers"]), dtype="<u4")
    assert numbers.tolist() == list(range(400))
    assert "p-value" not in path.read_text(encoding="utf-8")


def test_a_note_stands_under_the_title(example, tmp_path):
    text = example.write(tmp_path / "noted.html", note="1 row in <9>.").read_text()
    assert '<p class="note">1 row in &lt;9&gt;.</p>\n</header>' in text


def test_any_estimator_with_directions_and_any_table_will_do(example, tmp_path):
    frame = pd.DataFrame(example.X.astype(np.float32), columns=list("abcde"))
    estimator = SpectralPursuit(n_components=1).fit(frame).set_output(transform="pandas")
    path = write_report(
        str(tmp_path / "spectral.html"), estimator=estimator, X=frame, column_names=frame.columns
    )
    text = path.read_text(encoding="utf-8")
    assert "seen along the direction that SpectralPursuit found." in text
    assert [axis["short"] for axis in data_of(path)["axes"]] == ["1", "PC1", "PC2"]


def test_a_table_of_one_column_has_a_page_without_scatter_and_tour(tmp_path):
    X = np.r_[np.zeros(50), np.ones(5)][:, None] + np.random.default_rng(0).normal(0, 0.1, (55, 1))
    estimator = ProjectionPursuit(solver="two-step", n_starts=10, random_state=0).fit(X)
    path = write_report(tmp_path / "one.html", estimator=estimator, X=X, column_names=["x"])
    assert data_of(path)["tour"] is None
    assert len(data_of(path)["axes"]) == 1
    text = path.read_text(encoding="utf-8")
    assert "55 rows of 1 column, seen along the direction" in text
    assert '<section aria-labelledby="pairs-title" hidden>' in text


@pytest.fixture(scope="module")
def large():
    """150,000 rows, 60 of them far out."""
    X = np.random.default_rng(0).standard_normal((150_000, 3)).astype(np.float32)
    X[:60, 0] += 12
    estimator = ProjectionPursuit(solver="two-step", n_starts=30, random_state=0).fit(X[::5])
    return X, estimator


def test_of_many_rows_a_sample_is_drawn_and_the_page_says_so(large, tmp_path):
    X, estimator = large
    path = write_report(
        tmp_path / "large.html", estimator=estimator, X=X, column_names=list("abc")
    )
    data = data_of(path)
    assert (data["rows"], data["total"]) == (100_000, 150_000)
    text = path.read_text(encoding="utf-8")
    assert "every row of the small sides is among them" in text
    assert "The pictures draw 100,000 rows (66.7\u202f%)" in text
    drawn = np.frombuffer(base64.b64decode(data["ids"]["numbers"]), dtype="<u4")
    assert np.isin(np.arange(60), drawn).all()
    assert path.stat().st_size < 2e6


def test_a_small_side_too_large_to_be_drawn_whole_is_named(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150_000, 2))
    X[:70_000, 0] += 9
    estimator = ProjectionPursuit("absmax", solver="two-step", n_starts=30, random_state=0).fit(
        X[::50]
    )
    path = write_report(tmp_path / "half.html", estimator=estimator, X=X, column_names=["a", "b"])
    assert "of the small sides of direction 1 only some are among them" in path.read_text()


@pytest.mark.parametrize(
    ("ids", "packed", "first"),
    [
        (pd.Series(range(400, 0, -1), index=range(400, 0, -1)), True, 400),
        (np.arange(400) + 7, True, 7),
        ([2**40] + [0] * 399, False, str(2**40)),
        ([(1, "a")] * 400, False, "(1, 'a')"),
        ([None] * 400, False, "None"),
    ],
)
def test_row_ids_of_any_kind_are_read_by_place(example, tmp_path, ids, packed, first):
    found = data_of(example.write(tmp_path / "ids.html", row_ids=ids))["ids"]
    if packed:
        read = np.frombuffer(base64.b64decode(found["numbers"]), dtype="<u4").tolist()
    else:
        read = found["texts"]
    assert len(read) == 400
    assert read[0] == first


def test_row_ids_too_long_for_a_page_give_way_to_row_numbers(example, tmp_path):
    ids = [f"{number:020000d}" for number in range(400)]
    path = example.write(tmp_path / "long.html", row_ids=ids)
    assert "numbers" in data_of(path)["ids"]
    assert path.stat().st_size < 1e6


@pytest.mark.slow
def test_a_million_rows_make_a_page_under_20_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000_000, 10), dtype=np.float32)
    X[:500, 0] += 10
    estimator = ProjectionPursuit(
        n_components=10, solver="two-step", n_starts=30, minimum_angle=5, random_state=0
    )
    estimator.fit(X[::100])
    path = write_report(
        tmp_path / "m.html", estimator=estimator, X=X, column_names=[f"x{i}" for i in range(10)]
    )
    assert len(data_of(path)["axes"]) == 10
    assert path.stat().st_size < 20e6


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"column_names": ["a"]}, "column_names has 1 names; give one for each column, 5"),
        ({"row_ids": ["a"]}, "row_ids has 1 names; give one for each row, 400"),
        ({"labels": ["a"]}, "labels have shape"),
        ({"p_values": [0.5]}, "p_values have shape"),
    ],
)
def test_what_does_not_fit_is_named_and_leaves_the_old_page(example, tmp_path, changes, message):
    path = tmp_path / "report.html"
    path.write_text("the old page")
    with pytest.raises(ValueError, match=message):
        example.write(path, **changes)
    assert path.read_text() == "the old page"
    assert list(tmp_path.iterdir()) == [path]


def test_a_write_that_fails_leaves_nothing_behind(example, tmp_path, monkeypatch):
    monkeypatch.setattr("sightline.report.write._page", lambda *_: "half a page\ud800")
    with pytest.raises(UnicodeEncodeError):
        example.write(tmp_path / "report.html")
    assert list(tmp_path.iterdir()) == []


def test_an_unfitted_estimator_and_a_missing_folder_are_errors(example, tmp_path):
    with pytest.raises(NotFittedError):
        example.write(tmp_path / "r.html", estimator=ProjectionPursuit())
    with pytest.raises(FileNotFoundError):
        example.write(tmp_path / "nowhere" / "r.html")


def test_the_small_side_is_told_by_label(data_home, tmp_path):
    olive = pd.read_csv(data_home / "classic" / "olive.csv")
    X = olive.drop(columns=["region", "area"])
    estimator = ProjectionPursuit(solver="two-step", n_starts=100, random_state=0).fit(X)
    areas = olive["area"].str.strip()
    path = write_report(
        tmp_path / "olive.html", estimator=estimator, X=X, column_names=X.columns, labels=areas
    )
    card = re.search(r'id="direction-1".*?</p>', path.read_text(), re.DOTALL).group(0)
    said = {
        name: (int(part), int(whole))
        for name, part, whole in re.findall(r"<bdi>(.*?)</bdi> (\d+) of (\d+)", card)
    }
    small = areas[split_in_two(estimator.transform(X)[:, 0]).small].value_counts()
    assert said == {
        name: (small[name], int((areas == name).sum())) for name in small.index[: len(said)]
    }
    rest = re.search(r"others (\d+)", card)
    assert (
        sum(part for part, _ in said.values()) + int(rest.group(1) if rest else 0) == small.sum()
    )


def test_of_many_labels_on_the_small_side_the_smallest_are_counted_together(example, tmp_path):
    labels = np.arange(400) % 7
    path = example.write(tmp_path / "many.html", labels=labels)
    card = re.search(r'id="direction-1".*?</p>', path.read_text(), re.DOTALL).group(0)
    counts = np.bincount(labels[split_in_two(example.scores[:, 0]).small])
    assert f"others {np.sort(counts)[:-4].sum()}" in card


def test_an_estimator_without_index_values_has_no_column_for_them(example, tmp_path):
    bare = copy.copy(example.estimator)
    del bare.index_values_
    bare.standard_values_, bare.null_values_ = None, [0.1]
    path = example.write(tmp_path / "bare.html", estimator=bare)
    assert '<th scope="col">Index</th>' not in path.read_text()


def test_the_searches_behind_a_p_value_are_summed_up(example, tmp_path):
    tested = copy.copy(example.estimator)
    tested.p_values_, tested.null_values_ = [0.01, 0.02, 0.03], np.linspace(0.1, 0.25, 99)
    tested.standard_values_ = [0.9, 0.8, 0.7]
    path = example.write(tmp_path / "tested.html", estimator=tested, p_values=None)
    said = "p = 0.02: how often the same search finds as much where there is nothing"
    values = "reached 0.25 at most, this direction 0.8, at variance 1"
    assert f"{said} (99 such searches {values})." in path.read_text()
    del tested.standard_values_
    text = example.write(path, estimator=tested, p_values=None).read_text()
    index = f"{example.estimator.index_values_[1]:.4g}"
    assert f"this direction {index}, at variance 1)" in text


def test_rows_out_of_view_are_counted_in_a_sentence(example, tmp_path):
    X = example.X.copy()
    X[0] = 1e6 * example.estimator.components_[0]
    path = example.write(tmp_path / "far.html", X=X)
    assert "Further out, drawn at the ends: 1 row." in path.read_text()


def test_rows_that_are_all_equal_have_a_page_that_says_so(example, tmp_path):
    path = example.write(tmp_path / "equal.html", X=np.ones((400, 5)))
    text = path.read_text(encoding="utf-8")
    assert text.count("All rows have the same score.") == 3
    assert data_of(path)["tour"] is None
