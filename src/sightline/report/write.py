"""Writing the page: gather, draw a sample, put the parts into the template, replace the file."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sightline._arrays import Array, to_numpy
from sightline._options import as_generator
from sightline._version import __version__
from sightline.estimators.tables import read_table
from sightline.report.axes import make_axes, make_tour
from sightline.report.body import Table, counted, direction_card, overview, share
from sightline.report.facts import Direction, read_directions, side_groups
from sightline.report.markup import Markup, element, embedded_json, escape, join, name, source_hash
from sightline.report.payload import RowIds, payload
from sightline.report.sample import MOST_ROWS, Drawn, draw_rows
from sightline.scatter import Scatter, scatter_of
from sightline.views import group_rows

_SCRIPTS = ("data", "selection", "look", "histogram", "scatter", "planes", "tour", "page")
"""Files of the page's script, in the order in which they are put together."""

_MOST_SCORES = 4_000_000
"""Scores in a page, 2 bytes each and a third more as text: 11 megabytes."""

_MOST_ID_CHARACTERS = 4_000_000
"""Characters of row ids in a page; longer ones are shown and exported as row numbers."""


@dataclass(frozen=True, slots=True)
class _Contents:
    """What is gathered before anything is written."""

    directions: list[Direction]
    table: Table
    drawn: Drawn
    data: dict[str, Any]
    n_columns: int


def write_report(
    path: str | os.PathLike[str],
    *,
    estimator: Any,
    X: Any,
    column_names: Sequence[object],
    labels: Any = None,
    row_ids: Any = None,
    p_values: Any = None,
    title: str = "Directions worth looking at",
    note: str | None = None,
    random_state: Any = 0,
) -> Path:
    """Write one HTML file that shows what an estimator found in `X`, and return its path.

    Parameters
    ----------
    path : where to; a file that is there is replaced when the new one is complete.
    estimator : fitted, with `components_` and `transform`; `index_values_` and `p_values_` are
        shown where it has them.
    X : (n, d) the table.
    column_names : (d,) for people.
    labels : (n,) one a row, of any kind, or None; then rows are coloured by small side.
    row_ids : (n,) what rows are called, or None for their numbers from 0.
    p_values : (k,) of the directions, or None for the estimator's own.
    title : of the page.
    note : a sentence under it, for instance of which table these rows are a sample.
    random_state : of the sample that is drawn where there are over 100,000 rows.
    """
    check_is_fitted(estimator)
    rows = read_table(estimator, X, reset=False)
    _check_length("column_names", column_names, rows.shape[1], "column")
    groups = None if labels is None else group_rows(labels, rows.shape[0])
    ids = None if row_ids is None else _row_ids(row_ids, rows.shape[0])
    table = Table([str(column) for column in column_names], ids, groups)
    scores = np.asarray(to_numpy(estimator.transform(X)), dtype=np.float64)
    scatter = scatter_of(rows)
    directions = read_directions(estimator, rows, scatter, scores, p_values)
    contents = _gather(directions, table, rows, scatter, as_generator(random_state))
    target = Path(path)
    _replace(target, _page(contents, title, join([*_lede(contents, estimator), *_noted(note)])))
    return target


def _gather(
    directions: list[Direction],
    table: Table,
    rows: Array,
    scatter: Scatter,
    rng: np.random.Generator,
) -> _Contents:
    """Draw the sample, and pack what the script needs of it."""
    groups = side_groups(directions) if table.groups is None else table.groups
    most = min(MOST_ROWS, _MOST_SCORES // max(len(directions), 3))
    sides = [direction.split.small for direction in directions]
    drawn = draw_rows(sides, groups.codes, most, rng)
    axes = make_axes(directions, rows, scatter, drawn)
    tour = make_tour(axes)
    data = payload(
        axes,
        tour,
        drawn,
        groups,
        labelled=table.groups is not None,
        row_ids=_fitting_ids(table.row_ids, drawn),
    )
    return _Contents(directions, table, drawn, data, rows.shape[1])


def _row_ids(given: Any, n_rows: int) -> RowIds:
    """Return row ids of any kind by their place: a Series would be looked up by its own index."""
    _check_length("row_ids", given, n_rows, "row")
    return np.fromiter(given, dtype=object, count=n_rows)


def _fitting_ids(row_ids: RowIds | None, drawn: Drawn) -> RowIds | None:
    """Return the row ids, or None where they are too long for a page."""
    if row_ids is None:
        return None
    characters = sum(len(str(row_ids[row])) for row in drawn.rows)
    return row_ids if characters <= _MOST_ID_CHARACTERS else None


def _page(contents: _Contents, title: str, lede: Markup) -> str:
    """Put the parts into the template; the policy lets this script and this style run alone."""
    folder = files("sightline.report") / "page"
    style = (folder / "page.css").read_text(encoding="utf-8")
    parts = [(folder / f"{script}.js").read_text(encoding="utf-8") for script in _SCRIPTS]
    script = "(() => {\n'use strict';\n" + "\n".join(parts) + "\n})();"
    template = (folder / "page.html").read_text(encoding="utf-8")
    policy = (
        f"default-src 'none'; script-src {source_hash(script)}; style-src {source_hash(style)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    slots = {
        "policy": escape(policy).replace("&#x27;", "'"),
        "title": escape(title),
        "style": style,
        "heading": element("h1", name(title)),
        "lede": lede,
        "overview": overview(contents.directions, contents.table),
        "pairs_hidden": "" if len(contents.data["axes"]) > 1 else " hidden",
        "tour_hidden": "" if contents.data["tour"] else " hidden",
        "directions": join(direction_card(d, contents.table) for d in contents.directions),
        "version": escape(__version__),
        "data": embedded_json(contents.data),
        "script": script,
    }
    page = template
    pieces: list[str] = []
    for slot, content in slots.items():
        before, page = page.split(f"{{{{{slot}}}}}")
        pieces += [before, content]
    return "".join([*pieces, page])


def _noted(note: str | None) -> list[Markup]:
    return [] if note is None else [element("p", note, class_="note")]


def _lede(contents: _Contents, estimator: Any) -> list[Markup]:
    """Say what was looked at, how, and whether all of it is drawn."""
    count, n_rows = len(contents.directions), contents.data["total"]
    along = "the direction" if count == 1 else f"{count} directions"
    index = getattr(estimator, "index", None)
    how = f" with index {index}" if isinstance(index, str) else ""
    size = f"{counted(n_rows, 'row')} of {counted(contents.n_columns, 'column')}"
    what = element(
        "p",
        f"{size}, seen along {along} that {type(estimator).__name__} found{how}.",
        class_="lede",
    )
    drawn = contents.drawn
    if drawn.rows.size == n_rows:
        return [what]
    partly = [
        str(d.number) for d, w in zip(contents.directions, drawn.whole, strict=True) if not w
    ]
    kept = (
        "every row of the small sides is among them"
        if not partly
        else f"of the small sides of direction {', '.join(partly)} only some are among them"
    )
    return [
        what,
        *_noted(
            f"The pictures draw {drawn.rows.size:,} rows ({share(drawn.rows.size, n_rows)}): "
            f"{kept}, the others are a random sample. Histograms count each drawn row as many "
            "times as it stands for; selections and exports hold drawn rows. Tables and small "
            "sides are of all rows."
        ),
    ]


def _replace(target: Path, page: str) -> None:
    """Write beside the target and then rename, so that no half of a page is ever there."""
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    try:
        with part.open("x", encoding="utf-8", newline="\n") as stream:
            stream.write(page)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)


def _check_length(option: str, given: Sequence[object], wanted: int, what: str) -> None:
    if len(given) != wanted:
        raise ValueError(f"{option} has {len(given)} names; give one for each {what}, {wanted}.")
