"""sightline: the directions along which a data table shows its hidden structure."""

from sightline._version import __version__

__all__ = ["__version__"]
