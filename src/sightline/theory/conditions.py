"""The three conditions of the paper's main lemma, checked by simulation for numbers at hand.

1. start: some start has alignment at least a.
2. step: from every alignment in (a, b) one step leads to at least (1 + gain) times it.
3. threshold: psi on n rows tells alignments of at least b from those of at most b - gap.

The lemma then gives a direction of alignment b - gap, but for the failures of the three. Printed,
condition 2 asks for failures of O(1/s); the union over s steps needs o(1/s), as `failure_bound`
counts it. Condition 3 is printed for all directions of the sphere; what is drawn here is a fixed
one, as it is when psi is compared on rows that the climb did not use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import beta

from sightline._options import as_generator, check_count, check_number
from sightline.indices import selection_index
from sightline.theory.climb import data_start_alignment
from sightline.theory.population import checked_alignment, climbing_index
from sightline.theory.simulation import draw_starts, draw_steps, draw_values

_ALIGNMENTS = 10
"""How many alignments of an interval are tried."""

_CONFIDENCE = 0.975


@dataclass(frozen=True, slots=True)
class Failures:
    """How often a condition failed in simulation."""

    count: int
    trials: int

    @property
    def rate(self) -> float:
        """The observed rate."""
        return self.count / self.trials

    @property
    def upper(self) -> float:
        """The upper end of the exact 95% interval of Clopper and Pearson."""
        if self.count == self.trials:
            return 1.0
        return float(beta.ppf(_CONFIDENCE, self.count + 1, self.trials - self.count))

    def __str__(self) -> str:
        """Show rate, count and upper end."""
        return f"{self.rate:.3g} ({self.count} of {self.trials}; at most {self.upper:.2g})"


@dataclass(frozen=True, slots=True)
class LemmaConditions:
    """Failures of the three conditions over an interval of alignments.

    Attributes
    ----------
    interval : (a, b).
    start : no start reaches a; None where starts were not asked about.
    step : a step gains too little, at the alignment where that is most frequent.
    worst_step_at : that alignment.
    threshold : psi is on the wrong side of `threshold_value`, the best there is.
    n_steps : s, the number of steps that the bound counts.
    """

    interval: tuple[float, float]
    start: Failures | None
    step: Failures
    worst_step_at: float
    threshold: Failures
    threshold_value: float
    n_steps: int

    @property
    def failure_bound(self) -> float:
        """P(start fails) + s P(step fails) + P(threshold fails), at most 1: the union bound."""
        start = self.start.rate if self.start else 0.0
        return min(1.0, start + self.n_steps * self.step.rate + self.threshold.rate)

    def __str__(self) -> str:
        """Show one line a condition."""
        a, b = self.interval
        return "\n".join(
            (
                f"from alignment {a:.3g} to {b:.3g} in {self.n_steps} steps",
                f"1. no start reaches {a:.3g}: {self.start or 'not asked'}",
                f"2. a step gains too little, most often at {self.worst_step_at:.3g}: {self.step}",
                f"3. psi is on the wrong side of {self.threshold_value:.4g}: {self.threshold}",
                f"one of them, by the union bound: at most {self.failure_bound:.3g}",
            )
        )


def check_conditions(
    index: Any,
    signal: Any,
    n: int,
    d: int,
    *,
    step_size: float,
    n_starts: int | None,
    n_steps: int,
    n_select: int | None = None,
    interval: tuple[float, float] | None = None,
    gain: float = 0.02,
    gap: float = 0.1,
    select: Any = None,
    trials: int = 200,
    random_state: Any = None,
) -> LemmaConditions:
    """Simulate the three conditions of the main lemma.

    Parameters
    ----------
    index : phi, an index with a slope.
    signal : the law of nu, with `sample(n, rng)`; and `components()` where `interval` is None.
    n, d : rows of a batch, and columns.
    step_size, n_steps : eta and s.
    n_starts : n_init, how many starts at rows; None where the run begins where another ended.
    n_select : rows on which psi is compared; None is n, as printed.
    interval : (a, b), alignments in (0, 1). None is from a = 0.9 `data_start_alignment(signal, d)`
        to the middle between a and 1, for the first run. For the second
        give where the first one ends, and where it should go.
    gain : c_0, what a step must add, relative to the alignment.
    gap : delta, between alignments that psi must tell apart.
    select : psi; None is the one that the index declares.
    trials : simulations of each condition at each of ten alignments.
    random_state : int, Generator or None.
    """
    phi = climbing_index(index)
    psi = selection_index(phi, select)
    n, d = check_count("n", n), check_count("d", d)
    eta = check_number("step_size", step_size, low=0, open_low=True)
    n_steps = check_count("n_steps", n_steps)
    n_select = n if n_select is None else check_count("n_select", n_select)
    gain = check_number("gain", gain, low=0)
    trials, rng = check_count("trials", trials), as_generator(random_state)
    a, b = _checked_interval(interval, signal, d)
    gap = check_number("gap", gap, low=0, high=b, open_low=True)

    start = None
    if n_starts is not None:
        starts = draw_starts(signal, d, (trials, check_count("n_starts", n_starts)), rng)
        best = np.max(np.abs(starts) if phi.even else starts, axis=1)
        start = Failures(int(np.sum(best < a)), trials)
    steps = []
    for alignment in np.geomspace(a, b, _ALIGNMENTS).tolist():
        after = draw_steps(phi, signal, alignment, n=n, d=d, step_size=eta, trials=trials, rng=rng)
        steps.append((int(np.sum(after < (1 + gain) * alignment)), alignment))
    worst, worst_at = max(steps)
    failed, value = _best_threshold(
        lambda a: draw_values(psi, signal, a, n=n_select, trials=trials, rng=rng), b - gap, b
    )
    return LemmaConditions(
        interval=(a, b),
        start=start,
        step=Failures(worst, trials),
        worst_step_at=worst_at,
        threshold=Failures(failed, trials),
        threshold_value=value,
        n_steps=n_steps,
    )


def _checked_interval(interval: Any, signal: Any, d: int) -> tuple[float, float]:
    if interval is None:
        a = 0.9 * data_start_alignment(signal, d)
        if a <= 0:
            raise ValueError(
                "interval=None takes the alignment of a row of the rarest cluster, and no "
                f"component of {signal!r} has a mean over 0; give interval=(a, b)."
            )
        return a, (1 + a) / 2
    try:
        low, high = interval
    except (TypeError, ValueError):
        raise ValueError(f"interval={interval!r} must be two alignments, (a, b).") from None
    a, b = checked_alignment("interval", low), checked_alignment("interval", high)
    if not 0 < a < b < 1:
        raise ValueError(f"interval={interval!r} must be two alignments with 0 < a < b < 1.")
    return a, b


def _best_threshold(
    draw: Callable[[float], np.ndarray], low: float, high: float
) -> tuple[int, float]:
    """Return the failures, and the value, of the threshold that has the fewest."""
    wrong, right = (
        np.sort([draw(a) for a in alignments.tolist()], axis=1)
        for alignments in (np.linspace(0, low, _ALIGNMENTS), np.linspace(high, 1, _ALIGNMENTS))
    )
    trials = wrong.shape[1]
    candidates = np.unique(np.concatenate((wrong.ravel(), right.ravel())))
    above = np.max([trials - np.searchsorted(row, candidates, "right") for row in wrong], axis=0)
    below = np.max([np.searchsorted(row, candidates, "left") for row in right], axis=0)
    best = int(np.argmin(above + below))
    return min(trials, int(above[best] + below[best])), float(candidates[best])
