"""scikit-learn estimators: they translate options, call the core, and never compute."""

from sightline.estimators.baselines import CovMCDPursuit, SpectralPursuit
from sightline.estimators.projection_pursuit import ProjectionPursuit

__all__ = ["CovMCDPursuit", "ProjectionPursuit", "SpectralPursuit"]
