"""Fitted estimators as JSON and arrays, and back: a whitelist, nothing is executed.

None, booleans, finite numbers and text are themselves. Everything else is an object with one key
that says what it is: `{"array": "a3"}`, `{"tuple": [...]}`, `{"estimator": "ProjectionPursuit",
"parameters": {...}, "state": {...}}`. What has no line in this file can't be saved.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from sightline._arrays import is_foreign, to_numpy
from sightline.deviation import Deviations, Outlyingness
from sightline.estimators import (
    CovMCDPursuit,
    ProjectionOutliers,
    ProjectionPursuit,
    RareClusters,
    SpectralPursuit,
)
from sightline.estimators.rare_clusters import Cluster
from sightline.indices import INDICES, Index
from sightline.models.errors import ModelFileError
from sightline.splitting import RowSplit
from sightline.whitening import Whitening

ESTIMATORS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        CovMCDPursuit,
        ProjectionOutliers,
        ProjectionPursuit,
        RareClusters,
        SpectralPursuit,
    )
}

RECORDS: dict[str, Any] = {
    kind.__name__: kind for kind in (Cluster, Deviations, Outlyingness, RowSplit, Whitening)
}

BIT_GENERATORS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        np.random.MT19937,
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.Philox,
        np.random.SFC64,
    )
}


class Encoder:
    """Turns values into JSON; arrays are put aside in `arrays`, by name."""

    def __init__(self) -> None:
        self.arrays: dict[str, np.ndarray] = {}

    def encode(self, value: Any, where: str) -> Any:  # noqa: PLR0911  (one a kind of value)
        """Return the JSON for a value; `where` names it in errors."""
        if value is None or type(value) in {bool, int, str}:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.generic):
            return {"scalar": self._put(np.asarray(value), where)}
        if isinstance(value, np.ndarray) and value.dtype.kind == "O":
            return {"texts": _texts(value, where)}
        if isinstance(value, np.ndarray) or is_foreign(value):
            return {"array": self._put(to_numpy(value), where)}
        if isinstance(value, list | tuple):
            kind = "tuple" if isinstance(value, tuple) else "list"
            return {kind: [self.encode(item, f"{where}[{i}]") for i, item in enumerate(value)]}
        return self._encode_object(value, where)

    def _encode_object(self, value: Any, where: str) -> Any:
        name = type(value).__name__
        if RECORDS.get(name) is type(value):
            fields = {
                field.name: getattr(value, field.name) for field in dataclasses.fields(value)
            }
            return {"record": name, "fields": self._encode_all(fields, where)}
        if isinstance(value, Index) and INDICES.get(value.name) is type(value):
            return {"index": value.name, "options": self._encode_all(vars(value), where)}
        if ESTIMATORS.get(name) is type(value):
            parameters, state = value.get_params(deep=False), value.fitted_state()
            return {
                "estimator": name,
                "parameters": self._encode_all(parameters, where),
                "state": self._encode_all(state, where),
            }
        if isinstance(value, np.random.Generator):
            bits = value.bit_generator
            if BIT_GENERATORS.get(type(bits).__name__) is type(bits):
                return {"generator": self._encode_mapping(bits.state, where)}
        kind = f"{type(value).__module__}.{type(value).__qualname__}"
        raise ModelFileError(
            f"{where} is a {kind}, which a model file can't hold: it holds numbers, text, "
            "arrays, and what sightline itself provides. Fit with a name or a number "
            "there, or pickle the estimator."
        )

    def _encode_all(self, values: dict[str, Any], where: str) -> dict[str, Any]:
        return {name: self.encode(value, f"{where}.{name}") for name, value in values.items()}

    def _encode_mapping(self, state: Any, where: str) -> Any:
        """Return a state of NumPy's, which has mappings in it, as the Decoder takes it."""
        return {
            name: {"mapping": self._encode_mapping(value, where)}
            if isinstance(value, dict)
            else self.encode(value, where)
            for name, value in state.items()
        }

    def _put(self, values: np.ndarray, where: str) -> str:
        if values.dtype.kind not in "biuf":
            raise ModelFileError(f"{where} has dtype {values.dtype}; only numbers can be saved.")
        name = f"a{len(self.arrays)}"
        self.arrays[name] = values
        return name


def _texts(values: np.ndarray, where: str) -> list[str]:
    if values.ndim != 1 or not all(isinstance(text, str) for text in values):
        raise ModelFileError(f"{where} holds other objects than text, which can't be saved.")
    return [str(text) for text in values]


class Decoder:
    """Turns the JSON of `Encoder` back into values."""

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self._kinds = {
            "float": lambda node: float(node["float"]),
            "scalar": lambda node: arrays[node["scalar"]][()],
            "array": lambda node: arrays[node["array"]],
            "texts": lambda node: np.array([str(text) for text in node["texts"]], dtype=object),
            "list": lambda node: [self.decode(item) for item in node["list"]],
            "tuple": lambda node: tuple(self.decode(item) for item in node["tuple"]),
            "record": lambda node: RECORDS[node["record"]](**self._decode_all(node["fields"])),
            "index": lambda node: INDICES[node["index"]](**self._decode_all(node["options"])),
            "estimator": self._estimator,
            "mapping": lambda node: self._decode_all(node["mapping"]),
            "generator": self._generator,
        }

    def decode(self, node: Any) -> Any:
        """Return the value of a JSON node; what `Encoder` never writes is an error."""
        if isinstance(node, list):
            raise ModelFileError("a bare list is no value.")
        if not isinstance(node, dict):
            return node
        return self._kinds[next(iter(node))](node)

    def _estimator(self, node: dict[str, Any]) -> Any:
        empty = ESTIMATORS[node["estimator"]](**self._decode_all(node["parameters"]))
        return empty.restore_fitted_state(self._decode_all(node["state"]))

    def _generator(self, node: dict[str, Any]) -> np.random.Generator:
        state = self._decode_all(node["generator"])
        bits = BIT_GENERATORS[state["bit_generator"]]()
        bits.state = state
        return np.random.Generator(bits)

    def _decode_all(self, nodes: dict[str, Any]) -> dict[str, Any]:
        return {name: self.decode(node) for name, node in nodes.items()}
