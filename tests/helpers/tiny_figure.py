"""A figure of a dozen short cells, to run, interrupt and kill; worker processes import it too."""

import time

import numpy as np
from matplotlib.figure import Figure as Picture

from sightline.experiments import Figure, Finding, grid
from sightline.experiments.summary import summarise_by


def measure(cell, context):
    time.sleep(cell["seconds"])
    rng = np.random.default_rng(context.seed_of("data", cell))
    return [{"value": value} for value in rng.random(3).tolist()]


def summarise(rows):
    return summarise_by(rows, ("a",), "value")


def draw(rows, summary):
    picture = Picture(figsize=(2, 2))
    picture.subplots().plot([row["mean"] for row in summary])
    return picture


def judge(summary):
    mean = summary[0]["mean"]
    return [
        Finding("means are under 1", mean < 1, f"mean {mean:.3f}"),
        Finding("nobody knows", None, "not measured"),
    ]


TINY = Figure(
    name="tiny",
    title="A tiny figure",
    claim="Means are under 1.",
    cells={
        "smoke": grid(a=[1, 2], set=range(2), seconds=[0.0]),
        "quick": grid(a=[1, 2, 3], set=range(8), seconds=[0.02]),
        "paper": grid(a=[1, 2, 3], set=range(40), seconds=[0.02]),
    },
    measure=measure,
    summarise=summarise,
    draw=draw,
    judge=judge,
    cost=lambda cell: 1.0 + cell["a"],
)
