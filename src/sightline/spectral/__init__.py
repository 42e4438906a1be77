"""Spectral directions: extreme eigenvectors of third and fourth moments, by deflation."""

from sightline.spectral.directions import METHODS, SpectralDirections, spectral_directions

__all__ = ["METHODS", "SpectralDirections", "spectral_directions"]
