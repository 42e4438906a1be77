"""Climbing an index: Algorithm 1 and Algorithm 2 of the paper."""

from sightline.ascent.one_run import Ascent, gradient_ascent
from sightline.ascent.two_step import (
    TwoStepAscent,
    default_steps,
    paper_step_sizes,
    two_step_gradient_ascent,
)

__all__ = [
    "Ascent",
    "TwoStepAscent",
    "default_steps",
    "gradient_ascent",
    "paper_step_sizes",
    "two_step_gradient_ascent",
]
