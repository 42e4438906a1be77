"""The words and tables of a page: everything that is there before a script has run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sightline.report.facts import N_WEIGHTS, Direction, End
from sightline.report.markup import Markup, element, join, name
from sightline.report.payload import RowIds
from sightline.views import Groups, main_columns


@dataclass(frozen=True, slots=True)
class Table:
    """The table that a page is about: its columns, what its rows are called, their labels."""

    column_names: Sequence[str]
    row_ids: RowIds | None
    groups: Groups | None

    def row_name(self, row: int) -> object:
        """Return what a row is called."""
        return row if self.row_ids is None else self.row_ids[row]


def number(value: float, digits: int = 4) -> str:
    """Write a number as people read it, with a minus that is as long as a plus."""
    return f"{value:.{digits}g}".replace("-", "\u2212")


def signed(value: float) -> str:
    """Write a weight with its sign and two digits after the point."""
    return f"{value:+.2f}".replace("-", "\u2212")


def share(part: int, whole: int) -> str:
    """Write a percentage with two digits that count."""
    return f"{number(100 * part / whole, 3 if part * 10 > whole else 2)}\u202f%"


def counted(count: int, what: str, ending: str = "s") -> str:
    """Write a count of things."""
    return f"{count:,} {what}{'' if count == 1 else ending}"


def overview(directions: Sequence[Direction], table: Table) -> Markup:
    """Return the table of all directions, a row each."""
    tested = any(direction.p_value is not None for direction in directions)
    valued = any(direction.index_value is not None for direction in directions)
    heads = ["Direction", "Index"] if valued else ["Direction"]
    heads += ["p-value"] if tested else []
    heads += ["Small side", "Main columns, with their weight"]
    body = []
    for direction in directions:
        link = element("a", direction.name, href=f"#direction-{direction.number}")
        cells = [element("th", link, scope="row")]
        if valued:
            cells.append(element("td", _or_dash(direction.index_value), class_="number"))
        if tested:
            cells.append(element("td", _or_dash(direction.p_value, 2), class_="number"))
        cells.append(element("td", small_side(direction), class_="number"))
        cells.append(element("td", main_list(direction, table), class_="columns"))
        body.append(element("tr", *cells))
    head = element("tr", *(element("th", text, scope="col") for text in heads))
    return element("table", element("thead", head), element("tbody", *body), class_="overview")


def small_side(direction: Direction) -> str:
    """Say how many rows are on the small side."""
    size = direction.split.size
    return f"{size:,} ({share(size, direction.scores.size)})" if size else "none"


def main_list(direction: Direction, table: Table) -> Markup:
    """Name the columns that matter most, with signed weights."""
    parts = [
        element(
            "span", name(table.column_names[column]), "\u00a0", signed(direction.weights[column])
        )
        for column in direction.main
    ]
    return join(parts, ", ")


def direction_card(direction: Direction, table: Table) -> Markup:
    """Return the section of one direction, with an empty place for its histogram."""
    key = f"direction-{direction.number}"
    return element(
        "section",
        element("h3", direction.name, id=f"{key}-title"),
        element("p", *sentence(direction, table)),
        element(
            "div",
            element("div", class_="histogram", data_axis=direction.number - 1),
            weights_table(direction, table),
            class_="pair",
        ),
        ends_details(direction, table),
        id=key,
        class_="card",
        aria_labelledby=f"{key}-title",
    )


def sentence(direction: Direction, table: Table) -> list[object]:
    """Say how large the small side is, what is on it, and how sure the direction is."""
    split, words = direction.split, list[object]()
    if split.size:
        where = "above" if split.above else "at or below"
        words.append(
            f"{split.size:,} of {direction.scores.size:,} rows "
            f"({share(split.size, direction.scores.size)}) are {where} {number(split.threshold)}"
        )
        words.append(_composition(direction, table))
        words.append(". ")
    else:
        words.append("All rows have the same score. ")
    if direction.index_value is not None:
        words.append(f"Index {number(direction.index_value)}. ")
    if direction.p_value is not None:
        searches, reached = direction.null_values.size, ""
        if searches and direction.standard_value is not None:
            most = number(float(direction.null_values.max()))
            reached = (
                f" ({counted(searches, 'such search', 'es')} reached {most} at most, this "
                f"direction {number(direction.standard_value)}, at variance 1)"
            )
        words.append(
            f"p = {number(direction.p_value, 2)}: how often the same search finds as much where "
            f"there is nothing{reached}. "
        )
    if direction.beyond:
        words.append(f"Further out, drawn at the ends: {counted(direction.beyond, 'row')}.")
    return words


def _composition(direction: Direction, table: Table) -> Markup:
    """Name the groups on the small side, the largest first."""
    if table.groups is None:
        return Markup("")
    counts = np.bincount(table.groups.codes[direction.split.small], minlength=len(table.groups))
    largest = [int(place) for place in np.argsort(-counts, kind="stable") if counts[place]]
    parts = [
        join(
            [
                name(table.groups.names[place]),
                f" {counts[place]:,} of {table.groups.counts[place]:,}",
            ]
        )
        for place in largest[:4]
    ]
    rest = int(counts[largest[4:]].sum())
    if rest:
        parts.append(join([f"others {rest:,}"]))
    return join([": ", join(parts, ", ")])


def weights_table(direction: Direction, table: Table) -> Markup:
    """Return the columns with the largest weights, a bar each."""
    shown = main_columns(direction.weights, N_WEIGHTS)
    weights = direction.weights[shown]
    low, high = min(float(weights.min(initial=0)), 0.0), max(float(weights.max(initial=0)), 0.0)
    reach = max(high - low, 1e-300)
    lines = []
    for column, weight in zip(shown, weights, strict=True):
        start = (min(weight, 0.0) - low) / reach
        bar = element(
            "rect",
            x=f"{100 * start:.2f}%",
            y="0",
            width=f"{100 * abs(weight) / reach:.2f}%",
            height="100%",
            class_="plus" if weight > 0 else "minus",
        )
        picture = element("svg", bar, aria_hidden="true")
        lines.append(
            element(
                "tr",
                element("th", name(table.column_names[column]), scope="row"),
                element("td", picture, class_="bar-cell"),
                element("td", signed(weight), class_="number"),
            )
        )
    total = int(np.count_nonzero(direction.weights))
    some = f", {len(shown)} of {total} columns" if len(shown) < total else ""
    caption = element("caption", f"What one standard deviation adds to the score{some}")
    return element("table", caption, element("tbody", *lines), class_="weights")


def ends_details(direction: Direction, table: Table) -> Markup:
    """Return the rows furthest out on either side, to unfold."""
    return element(
        "details",
        element("summary", f"Rows at the ends of direction {direction.number}"),
        element(
            "div",
            _end_table("Highest scores", direction.high, direction, table),
            _end_table("Lowest scores", direction.low, direction, table),
            class_="ends",
        ),
    )


def _end_table(title: str, end: End, direction: Direction, table: Table) -> Markup:
    heads = [element("th", "Row", scope="col"), element("th", "Score", scope="col")]
    if table.groups is not None:
        heads.append(element("th", "Label", scope="col"))
    heads += [element("th", name(table.column_names[c]), scope="col") for c in direction.main]
    lines = []
    for row, score, values in zip(end.rows, end.scores, end.values, strict=True):
        cells = [
            element("th", name(table.row_name(int(row))), scope="row"),
            element("td", number(score), class_="number"),
        ]
        if table.groups is not None:
            cells.append(element("td", name(table.groups.names[table.groups.codes[row]])))
        cells += [element("td", number(value, 5), class_="number") for value in values]
        lines.append(element("tr", *cells))
    head = element("thead", element("tr", *heads))
    listing = element(
        "table", element("caption", title), head, element("tbody", *lines), class_="rows"
    )
    return element(
        "div",
        listing,
        class_="scroll",
        tabindex="0",
        role="region",
        aria_label=f"{title} along direction {direction.number}",
    )


def _or_dash(value: float | None, digits: int = 4) -> str:
    return "\u2013" if value is None else number(value, digits)
