"""From rows of results to the numbers behind a picture: means, thresholds, slopes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from sightline.experiments.figure import Row


def summarise_by(rows: Iterable[Row], by: Sequence[str], value: str = "alignment") -> list[Row]:
    """Return count, mean, its standard error, and quartiles of a value in each group of rows.

    Groups come in the order in which they first appear. The standard error of one value is None.
    """
    groups: dict[tuple[object, ...], list[float]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in by), []).append(float(row[value]))
    return [
        {**dict(zip(by, key, strict=True)), **_described(np.array(values))}
        for key, values in groups.items()
    ]


def _described(values: np.ndarray) -> Row:
    low, middle, high = (float(at) for at in np.quantile(values, (0.25, 0.5, 0.75)))
    many = values.size > 1
    return {
        "count": int(values.size),
        "mean": float(values.mean()),
        "standard_error": float(values.std(ddof=1) / math.sqrt(values.size)) if many else None,
        "lower_quartile": low,
        "median": middle,
        "upper_quartile": high,
    }


def select(rows: Iterable[Row], **wanted: object) -> list[Row]:
    """Return the rows that have the wanted entries."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


def values_of(rows: Iterable[Row], name: str) -> list[Any]:
    """Return the different values of an entry, in the order in which they first appear."""
    return list(dict.fromkeys(row[name] for row in rows))


def crossing(n: Sequence[float], means: Sequence[float], level: float) -> float | None:
    """Return where the means reach a level for good, between two n on a logarithmic scale.

    For good: at no larger n are they under it again. None where the largest n is under it, and
    the least n where none is: the threshold is then no more than that.
    """
    order = np.argsort(n)
    at, mean = np.log2(np.asarray(n, dtype=float)[order]), np.asarray(means, dtype=float)[order]
    below = np.flatnonzero(mean < level)
    if below.size == 0:
        return float(2 ** at[0])
    last = int(below[-1])
    if last == mean.size - 1:
        return None
    part = (level - mean[last]) / (mean[last + 1] - mean[last])
    return float(2 ** (at[last] + part * (at[last + 1] - at[last])))


def slope(d: Sequence[float], n: Sequence[float]) -> tuple[float, float]:
    """Return (a, b) of log2 n = a log2 d + b, by least squares."""
    a, b = np.polyfit(np.log2(np.asarray(d, dtype=float)), np.log2(np.asarray(n, dtype=float)), 1)
    return float(a), float(b)
