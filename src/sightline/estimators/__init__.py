"""scikit-learn estimators: they translate options, call the core, and never compute."""

from sightline.estimators.baselines import CovMCDPursuit, SpectralPursuit
from sightline.estimators.outliers import ProjectionOutliers
from sightline.estimators.projection_pursuit import ProjectionPursuit
from sightline.estimators.rare_clusters import RareClusters

__all__ = [
    "CovMCDPursuit",
    "ProjectionOutliers",
    "ProjectionPursuit",
    "RareClusters",
    "SpectralPursuit",
]
