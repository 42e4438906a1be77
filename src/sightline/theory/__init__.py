"""What the theorems say, as numbers."""

from sightline.theory.climb import PredictedClimb, data_start_alignment, predicted_climb
from sightline.theory.closed_forms import kurtosis_gradient, relu2_gradient
from sightline.theory.conditions import Failures, LemmaConditions, check_conditions
from sightline.theory.lattice import LatticeRecovery, lattice_recovery
from sightline.theory.laws import FiniteLaw, MomentLaw
from sightline.theory.low_degree import (
    Exponents,
    default_degree,
    log_low_degree_norm,
    low_degree_exponents,
    low_degree_norm,
    low_degree_threshold,
)
from sightline.theory.plan import Need, RarestPart, SamplePlan, plan_samples, rarest_part
from sightline.theory.population import population_gradient

__all__ = [
    "Exponents",
    "Failures",
    "FiniteLaw",
    "LatticeRecovery",
    "LemmaConditions",
    "MomentLaw",
    "Need",
    "PredictedClimb",
    "RarestPart",
    "SamplePlan",
    "check_conditions",
    "data_start_alignment",
    "default_degree",
    "kurtosis_gradient",
    "lattice_recovery",
    "log_low_degree_norm",
    "low_degree_exponents",
    "low_degree_norm",
    "low_degree_threshold",
    "plan_samples",
    "population_gradient",
    "predicted_climb",
    "rarest_part",
    "relu2_gradient",
]
