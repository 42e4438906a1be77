"""Saved models: one `.sightline` file an estimator, which executes nothing when it is read."""

from __future__ import annotations

import os
import stat
import struct
import zipfile
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from sightline._version import __version__
from sightline.container import ContainerError, read_container, write_container
from sightline.models.encoding import ESTIMATORS, Decoder, Encoder
from sightline.models.errors import ModelFileError

__all__ = ["FORMAT_VERSION", "ModelFileError", "load_model", "save_model"]

FORMAT = "sightline model"

FORMAT_VERSION = 1
"""Counts up when an older release could not read the file; every older file stays readable."""

_BROKEN = (
    ArithmeticError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    StopIteration,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
    zipfile.BadZipFile,
)
"""What reading a broken or hostile file raises underneath."""


def save_model(estimator: Any, path: str | os.PathLike[str]) -> Path:
    """Write a fitted estimator to one file; a file that is there is replaced when all is written.

    Parameters
    ----------
    estimator : a fitted estimator of this package. An index of your own among its parameters
        can't be saved; a generator is saved in the state that it is in.
    path : by convention it ends in `.sightline`.

    Returns
    -------
    The path.
    """
    if ESTIMATORS.get(type(estimator).__name__) is not type(estimator):
        names = ", ".join(ESTIMATORS)
        raise ModelFileError(
            f"a {type(estimator).__name__} can't be saved; a model is one of {names}."
        )
    check_is_fitted(estimator)
    encoder = Encoder()
    header = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "library_version": __version__,
        "model": encoder.encode(estimator, type(estimator).__name__),
    }
    write_container(Path(path), header, encoder.arrays)
    return Path(path)


def load_model(path: str | os.PathLike[str]) -> Any:
    """Read an estimator from a file of `save_model`; its `transform` gives the same bits.

    Arrays come back as NumPy arrays. Anything wrong with the file is a `ModelFileError`; a file
    that can't be opened is the operating system's error.
    """
    kind = os.stat(path).st_mode  # before it is opened: that of a pipe waits for a writer
    if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
        raise ModelFileError(f"{path} is no regular file; a pipe or a device may have no end.")
    with open(path, "rb") as file:
        try:
            header, arrays = read_container(file)
            _check_header(header)
            model = Decoder(arrays).decode(header["model"])
        except (ModelFileError, ContainerError) as error:
            raise ModelFileError(f"{path}: {error}") from None
        except _BROKEN as error:
            raise ModelFileError(
                f"{path} is no model file, or is damaged ({type(error).__name__}: {error}). "
                "Copy it again, or save the model again with sightline.save_model."
            ) from error
    if type(model).__name__ not in ESTIMATORS:
        raise ModelFileError(f"{path} holds no estimator, but a {type(model).__name__}.")
    return model


def _check_header(header: dict[str, Any]) -> None:
    """Refuse other formats, and versions newer than this release knows."""
    if header.get("format") != FORMAT:
        raise ModelFileError("its header is not that of a sightline model.")
    version = header.get("format_version")
    if not isinstance(version, int) or version < 1:
        raise ModelFileError(f"its format version is {version!r}.")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"it has format version {version}, written by sightline "
            f"{header.get('library_version')}; this is sightline {__version__}, which reads up to "
            f"{FORMAT_VERSION}. Upgrade sightline."
        )
