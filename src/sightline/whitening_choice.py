"""whiten="auto": the whitening whose best direction holds up on rows it was not fitted to.

Whitening rescues a direction that other variances drown, and destroys one that shows by its own
variance; with few rows it also blows up noise. The rule:

1. Where there are at least 50 rows a column, or where the spectrum of the columns in units of
   their own spread stays under 1.1 times the edge (1 + sqrt(d / n))^2 that independent normal
   columns reach (Marchenko and Pastur 1967, Math. USSR Sb. 1, 457-483), nothing is to be gained
   by keeping variances: "exact". Columns that are less correlated than sampling alone would leave
   them were decorrelated by somebody: of principal components the variances are what counts.
2. Otherwise "exact", a truncation to a tenth of the rows, "shrunk" and "none" are cross-fitted,
   each where its covariance can be had from half of the rows: a quick climb on one half, its
   best direction judged on the other half, both ways. The direction that shows groups in more
   halves wins: one that is clearly of several modes on both, or, where the index looks for
   groups, one along which a mixture of two normals fitted to the one half is a hundred times
   as likely on the other as any single cluster (`sightline.separation`). Among equals the
   largest sum of psi does. With index="auto" every index of the portfolio tries each
   whitening, and psi counts in deviations of its law for normal scores.

Groups come before psi because psi alone is won by whichever whitening leaves the longest tail:
whitened images have directions of a few rows far out that hold up, and no groups.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from sightline._arrays import Array, take_rows, to_numpy
from sightline._options import check_choice
from sightline.ascent import adaptive_ascent
from sightline.indices import Dip, Index, selection_index
from sightline.portfolio import members, normal_spread
from sightline.rows import random_rows
from sightline.scatter import spread_of
from sightline.selection import is_clear
from sightline.separation import fit_mixture, log_evidence
from sightline.whitening import METHODS, Whitening, fit_whitening

_PLENTY = 50
"""Rows a column from which whitening costs nothing."""

_EDGE = 1.1
"""Times the Marchenko-Pastur edge up to which a spectrum is taken for pure noise."""

_DECORRELATED = 1e-3
"""Times the mean squared correlation 1 / n of independent columns, under which columns count as
decorrelated: two independent columns do by chance in one table of forty, three or more hardly."""

_ROWS = 20_000
"""Rows that are cross-fitted at the most."""

_STARTS = 256
"""Starts of a cross-fitted climb."""

_LEAST_GROUP = 5
"""Rows of a half that make a group; halves of fewer than four times as many show none."""

_EVIDENCE = math.log(100)
"""Log evidence for groups: one cluster reaches it in one of a hundred cases at the most."""


@dataclass(frozen=True, slots=True)
class _Choice:
    method: str
    rank: int | None


def choose_whitening(
    X: Array,
    method: str,
    *,
    index: Any,
    rng: np.random.Generator,
    rank: int | None = None,
    columns: Any = None,
) -> Whitening:
    """Fit the whitening of `X` (n, d) by the method named, or the one that the rule chooses.

    Parameters
    ----------
    X : (n, d) table.
    method : "auto", "exact", "shrunk" or "none".
    index : phi, whose structure is to hold up.
    rng : the source of randomness of the halves and of the climbs.
    rank : keep this many leading principal axes; None is the numerical rank, or the rule's.
    columns : names for messages.
    """
    if method != "auto":
        check_choice("whiten", method, ("auto", *METHODS))
        return fit_whitening(X, method, rank=rank, columns=columns)
    phis = members(index)
    alone = len(phis) == 1
    choices = _candidates(X, rank)
    chosen = choices[0]
    if len(choices) > 1:
        halves = _halves(X, rng)
        chosen = max(
            choices,
            key=lambda choice: max(
                _cross_fit(halves, choice, phi, rng, alone=alone) for phi in phis
            ),
        )
    return fit_whitening(X, chosen.method, rank=chosen.rank, columns=columns)


def _candidates(X: Array, rank: int | None) -> list[_Choice]:
    """Return the choices that the shape and the spectrum leave open."""
    n, exact = X.shape[0], _Choice("exact", rank)
    if n >= _PLENTY * (X.shape[1] if rank is None else rank):
        return [exact]
    spreads = spread_of(X)
    varying = ~spreads.constant
    d = int(np.count_nonzero(varying)) if rank is None else rank
    if n >= _PLENTY * d or n < 8 or d < 2:
        return [exact]
    if rank is None and n > 2 * d:
        covariance = spreads.covariance(spreads.exponents)[np.ix_(varying, varying)]
        spread = np.sqrt(np.diag(covariance))
        if _like_noise(covariance / np.multiply.outer(spread, spread), n):
            return [exact]
    choices = [_Choice("none", rank), _Choice("shrunk", rank)]
    if n // 2 > 1.2 * d:
        choices.insert(0, exact)
    if rank is None and n // 5 < d and n >= 20:
        choices.append(_Choice("exact", n // 10))
    return choices


def _like_noise(correlations: np.ndarray, n: int) -> bool:
    """Say whether n rows of independent columns could have these correlations (d, d)."""
    d = correlations.shape[0]
    squared = float(np.sum((correlations - np.eye(d)) ** 2)) / (d * (d - 1))
    if squared < _DECORRELATED / n:
        return False
    largest = float(np.linalg.eigvalsh(correlations)[-1])
    return largest <= _EDGE * (1 + math.sqrt(d / n)) ** 2


def _halves(X: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    order = random_rows(X.shape[0], _ROWS, rng)
    middle = order.size // 2
    return take_rows(X, np.sort(order[:middle])), take_rows(X, np.sort(order[middle:]))


def _cross_fit(
    halves: tuple[Array, Array],
    choice: _Choice,
    phi: Index,
    rng: np.random.Generator,
    *,
    alone: bool,
) -> tuple[int, float]:
    """Return in how many halves the other's direction shows groups, and the sum of psi there."""
    psi = selection_index(phi)
    unit = 1.0 if alone else normal_spread(psi)
    shown, total = 0, 0.0
    for fitted, held in (halves, halves[::-1]):
        try:
            whitening = fit_whitening(fitted, choice.method, rank=choice.rank)
        except ValueError:  # half of the rows do not carry this covariance
            return 0, -math.inf
        rows = whitening.apply(fitted)
        steps = math.ceil(6 * max(1.0, math.log2(rows.shape[1])))
        found = adaptive_ascent(rows, index=phi, n_starts=_STARTS, n_steps=steps, random_state=rng)
        seen, scores = (
            to_numpy(whitening.scores(half, found.directions[:1, :])).astype(np.float64)
            for half in (fitted, held)
        )
        shown += bool(
            (found.clear[0] and is_clear(Dip().value_of_sample(scores, np), scores)[0])
            or (phi.polish == "groups" and _groups(seen[:, 0], scores[:, 0]))
        )
        total += _excess(psi, scores) / unit
    return shown, total


def _groups(seen: np.ndarray, unseen: np.ndarray) -> bool:
    """Say whether a mixture fitted to scores `seen` is evidence for groups in those `unseen`.

    The smaller group may be on either side: the mean of both e-values is one again.
    """
    if seen.size < 4 * _LEAST_GROUP or seen.std() == 0:
        return False
    fitted, held = ((scores - seen.mean()) / seen.std() for scores in (seen, unseen))
    evidence = -math.inf
    for side in (1.0, -1.0):
        mixture = fit_mixture(side * fitted, _LEAST_GROUP)
        if mixture is not None:
            evidence = float(np.logaddexp(evidence, log_evidence(mixture, side * held)))
    return evidence - math.log(2) >= _EVIDENCE


def _excess(psi: Index, scores: np.ndarray) -> float:
    """Return psi of the scores (n, 1), standardised, less that of as many normal quantiles."""
    standard = (scores - scores.mean()) / scores.std()
    normal = special.ndtri((np.arange(scores.size) + 0.5) / scores.size)[:, None]
    normal /= normal.std()
    value, reference = (float(psi.value_of_sample(t, np)[0]) for t in (standard, normal))
    return value - reference
