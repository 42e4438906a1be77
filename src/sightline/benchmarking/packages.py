"""The packages of Python that are compared: how each is asked, and how to get it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from sightline.estimators import ProjectionPursuit
from sightline.indices import make_index
from sightline.sums import index_gradients, index_values
from sightline.whitening import fit_whitening

Host = np.ndarray

_MANIFOLD_STARTS = 20


@dataclass(frozen=True, slots=True)
class Package:
    """One that is compared.

    Attributes
    ----------
    name : for people, with what was asked of it.
    missing : says what is to be installed, or None where all is there.
    run : from a table (n, d) and a seed to directions (k, d) in the order returned, of any
        length, and the seconds where the package has its own clock.
    """

    name: str
    missing: Callable[[], str | None]
    run: Callable[[Host, int], tuple[Host, float | None]]


def _needs(module: str, distribution: str) -> Callable[[], str | None]:
    def missing() -> str | None:
        return None if find_spec(module) else f"pip install {distribution}"

    return missing


def _sightline(X: Host, seed: int) -> tuple[Host, None]:
    return ProjectionPursuit(random_state=seed).fit(X).components_, None


def _fast_ica(X: Host, seed: int) -> tuple[Host, None]:
    from sklearn.decomposition import FastICA  # noqa: PLC0415  (a peer, loaded when it runs)

    return FastICA(fun="exp", random_state=seed).fit(X).components_, None


def _picard(X: Host, seed: int) -> tuple[Host, None]:
    K, W, _ = import_module("picard").picard(X.T, random_state=seed)
    return np.asarray(W @ K), None


def _direpack(**options: Any) -> Callable[[Host, int], tuple[Host, None]]:
    def run(X: Host, _seed: int) -> tuple[Host, None]:
        direpack: Any = import_module("direpack")
        pursuit = direpack.ppdire(
            projection_index=direpack.dicomo,
            pi_arguments={"mode": "skew", "center": "mean"},
            verbose=False,
            **options,
        )
        pursuit.fit(X)
        return np.asarray(pursuit.x_weights_).T, None

    return run


_GRID = {"optimizer": "grid", "optimizer_options": {"ndir": 200, "maxiter": 100}}


def _ics(X: Host, _seed: int) -> tuple[Host, None]:
    return np.asarray(import_module("icspylab").ICS().fit(X).components_), None


def _pymanopt(X: Host, seed: int) -> tuple[Host, None]:
    """Descend on the sphere from 20 rows by the general optimiser, best value first."""
    pymanopt: Any = import_module("pymanopt")
    sphere = import_module("pymanopt.manifolds").Sphere(X.shape[1])
    whitening, index = fit_whitening(X), make_index("relu2")
    rows = whitening.apply(X)

    @pymanopt.function.numpy(sphere)  # type: ignore[untyped-decorator]
    def loss(u: Host) -> float:
        return -float(index_values(index, u[None, :], rows)[0])

    @pymanopt.function.numpy(sphere)  # type: ignore[untyped-decorator]
    def slope(u: Host) -> Host:
        pull: Host = -np.asarray(index_gradients(index, u[None, :], rows))[0]
        return pull

    problem = pymanopt.Problem(sphere, loss, euclidean_gradient=slope)
    optimiser = import_module("pymanopt.optimizers").ConjugateGradient(verbosity=0)
    starts = np.random.default_rng(seed).choice(rows, _MANIFOLD_STARTS, replace=False)
    ends = [
        optimiser.run(problem, initial_point=start / np.linalg.norm(start)) for start in starts
    ]
    ends.sort(key=lambda end: end.cost)
    return np.asarray(whitening.column_weights(np.stack([end.point for end in ends]))), None


PACKAGES = (
    Package("sightline", lambda: None, _sightline),
    Package("scikit-learn FastICA, exp", lambda: None, _fast_ica),
    Package("python-picard", _needs("picard", "python-picard"), _picard),
    Package("direpack, skewness", _needs("direpack", "direpack"), _direpack()),
    Package("direpack, skewness, grid", _needs("direpack", "direpack"), _direpack(**_GRID)),
    Package("icspylab", _needs("icspylab", "icspylab"), _ics),
    Package("pymanopt, 20 data starts", _needs("pymanopt", "pymanopt"), _pymanopt),
)
"""The first is this one."""
