"""Scores and codes as short text: 16-bit whole numbers in base64.

A score s becomes round((s - low) / (high - low) 65535), the ends being those of what is looked at;
scores beyond them are drawn at the ends. A rounded score stays on its side of the threshold.
"""

from __future__ import annotations

import base64
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sightline.views.bins import Floats

STEPS = 65535
"""Steps from the low end to the high one."""


@dataclass(frozen=True, slots=True)
class PackedScores:
    """Codes (m,) of scores from `low` to `high`; a code from `cut` on is above the threshold."""

    low: float
    high: float
    codes: np.ndarray[Any, np.dtype[np.uint16]]
    cut: int | None


def pack_scores(
    scores: Floats, span: tuple[float, float], threshold: float | None
) -> PackedScores:
    """Return `scores` (m,) in steps of `span`, each on its side of the threshold."""
    low, high = span
    places = (np.clip(scores, low, high) / (high - low) - low / (high - low)) * STEPS
    codes = np.clip(np.rint(places), 0, STEPS)
    cut = None
    if threshold is not None:
        place = (min(max(threshold, low), high) / (high - low) - low / (high - low)) * STEPS
        cut = min(max(math.ceil(place), 1), STEPS)
        codes = np.where(scores > threshold, np.maximum(codes, cut), np.minimum(codes, cut - 1))
    return PackedScores(low, high, codes.astype(np.uint16), cut)


def base64_text(values: np.ndarray[Any, Any]) -> str:
    """Return the bytes of `values`, least significant first, as text."""
    little = values.astype(values.dtype.newbyteorder("<"), copy=False)
    return base64.b64encode(np.ascontiguousarray(little).tobytes()).decode("ascii")
