"""What the theorems say, as numbers."""

from sightline.theory.laws import FiniteLaw, MomentLaw
from sightline.theory.low_degree import (
    Exponents,
    default_degree,
    log_low_degree_norm,
    low_degree_exponents,
    low_degree_norm,
    low_degree_threshold,
)

__all__ = [
    "Exponents",
    "FiniteLaw",
    "MomentLaw",
    "default_degree",
    "log_low_degree_norm",
    "low_degree_exponents",
    "low_degree_norm",
    "low_degree_threshold",
]
