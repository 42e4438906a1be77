"""sightline: the directions along which a data table shows its hidden structure.

Names load on first use, so that `import sightline` takes no time and loads no other library.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sightline._version import __version__

if TYPE_CHECKING:
    from sightline import datasets, indices, plots, report, significance, theory
    from sightline.ascent import adaptive_ascent, gradient_ascent, two_step_gradient_ascent
    from sightline.covmcd import covmcd_directions
    from sightline.estimators import (
        CovMCDPursuit,
        ProjectionOutliers,
        ProjectionPursuit,
        RareClusters,
        SpectralPursuit,
    )
    from sightline.models import ModelFileError, load_model, save_model
    from sightline.resuming import resumable
    from sightline.spectral import spectral_directions

__all__ = [
    "CovMCDPursuit",
    "ModelFileError",
    "ProjectionOutliers",
    "ProjectionPursuit",
    "RareClusters",
    "SpectralPursuit",
    "__version__",
    "adaptive_ascent",
    "covmcd_directions",
    "datasets",
    "gradient_ascent",
    "indices",
    "load_model",
    "plots",
    "report",
    "resumable",
    "save_model",
    "significance",
    "spectral_directions",
    "theory",
    "two_step_gradient_ascent",
]

_SUBMODULES = ("datasets", "indices", "plots", "report", "significance", "theory")

_HOMES = {
    "CovMCDPursuit": "estimators",
    "ModelFileError": "models",
    "ProjectionOutliers": "estimators",
    "ProjectionPursuit": "estimators",
    "RareClusters": "estimators",
    "SpectralPursuit": "estimators",
    "adaptive_ascent": "ascent",
    "covmcd_directions": "covmcd",
    "gradient_ascent": "ascent",
    "load_model": "models",
    "resumable": "resuming",
    "save_model": "models",
    "spectral_directions": "spectral",
    "two_step_gradient_ascent": "ascent",
}


def __getattr__(name: str) -> Any:
    """Load a public name from the module that has it."""
    if name in _SUBMODULES:
        return import_module(f"sightline.{name}")
    if name in _HOMES:
        value = getattr(import_module(f"sightline.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'sightline' has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted({*globals(), *__all__})
