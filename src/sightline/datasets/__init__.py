"""Data to try things on: planted structure of known direction, and the paper's real data sets."""

from __future__ import annotations

from sightline.datasets.planted import (
    AMBIENTS,
    Ambient,
    make_anisotropic,
    make_planted,
    make_unequal_variance,
)
from sightline.datasets.real import HAR, FashionMNIST, load_fashion_mnist, load_har
from sightline.datasets.signals import (
    BernoulliRademacher,
    Components,
    GaussianMixture,
    HierarchicalClusters,
    ImbalancedClusters,
    Signal,
)

__all__ = [
    "AMBIENTS",
    "HAR",
    "Ambient",
    "BernoulliRademacher",
    "Components",
    "FashionMNIST",
    "GaussianMixture",
    "HierarchicalClusters",
    "ImbalancedClusters",
    "Signal",
    "load_fashion_mnist",
    "load_har",
    "make_anisotropic",
    "make_planted",
    "make_unequal_variance",
]
