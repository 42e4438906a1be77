"""Climbing an index: Algorithms 1 and 2 of the paper, and the adaptive solver."""

from sightline.ascent.adaptive import AdaptiveAscent, adaptive_ascent
from sightline.ascent.one_run import Ascent, gradient_ascent
from sightline.ascent.steps import default_steps, paper_step_sizes
from sightline.ascent.two_step import TwoStepAscent, two_step_gradient_ascent

__all__ = [
    "AdaptiveAscent",
    "Ascent",
    "TwoStepAscent",
    "adaptive_ascent",
    "default_steps",
    "gradient_ascent",
    "paper_step_sizes",
    "two_step_gradient_ascent",
]
