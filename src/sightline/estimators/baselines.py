"""The baselines as scikit-learn transformers: spectral methods and PPcovMCD."""

from __future__ import annotations

from typing import Any, Self

from sightline.covmcd import covmcd_directions
from sightline.estimators.directions import DirectionsEstimator
from sightline.estimators.tables import read_table
from sightline.selection import orient
from sightline.spectral import spectral_directions
from sightline.whitening import fit_whitening


class SpectralPursuit(DirectionsEstimator):
    """Directions from eigenvectors of third- or fourth-moment matrices of whitened rows.

    Parameters
    ----------
    method : "cov4max" (sparse or heavy-tailed scores), "cov4min" (balanced clusters) or
        "max-skew" (one-sided tails).
    n_components : how many directions, by deflation.
    whiten, rank : as in `ProjectionPursuit`.
    singular : which singular vector "max-skew" takes, "largest" (Loperfido's MaxSkew) or
        "smallest" (as the paper's table prints it); "largest" for the other methods.

    Attributes
    ----------
    components_ : (k, d) unit rows in the space of the input's columns, in the order found, the
        heavier tail of the scores on the positive side.
    index_values_ : (k,) the eigenvalue or singular value of each.
    mean_ : (d,) centre of the columns.
    n_features_in_, feature_names_in_ : as in scikit-learn.
    """

    def __init__(
        self,
        method: str = "cov4max",
        *,
        n_components: int = 1,
        whiten: str = "exact",
        rank: int | None = None,
        singular: str = "largest",
    ) -> None:
        self.method = method
        self.n_components = n_components
        self.whiten = whiten
        self.rank = rank
        self.singular = singular

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002  (y: scikit-learn's contract)
        """Find the directions of the rows of `X` (n, d); `y` is ignored."""
        rows = read_table(self, X, reset=True)
        names = getattr(self, "feature_names_in_", None)
        whitening = fit_whitening(rows, self.whiten, rank=self.rank, columns=names)
        whitened = whitening.apply(rows)
        found = spectral_directions(
            whitened, self.method, self.n_components, singular=self.singular
        )
        self._keep(whitening, orient(found.directions, whitened), rows)
        self.index_values_ = found.values
        return self


class CovMCDPursuit(DirectionsEstimator):
    """Directions of PPcovMCD (Pokojovy and Jobe 2022, CSDA 172, 107475).

    Parameters
    ----------
    n_components : how many directions.

    Attributes
    ----------
    components_ : (k, d) unit rows in the space of the input's columns, in the order found, the
        heavier tail of the scores on the positive side.
    index_values_ : (k,) bimodality of each: within over total variance of a two-normal mixture,
        small where the scores have two clear groups.
    mean_ : (d,) centre of the columns.
    n_features_in_, feature_names_in_ : as in scikit-learn.
    """

    def __init__(self, *, n_components: int = 1) -> None:
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002  (y: scikit-learn's contract)
        """Find the directions of the rows of `X` (n, d); `y` is ignored."""
        rows = read_table(self, X, reset=True)
        names = getattr(self, "feature_names_in_", None)
        whitening = fit_whitening(rows, columns=names)
        whitened = whitening.apply(rows)
        found = covmcd_directions(whitened, self.n_components)
        self._keep(whitening, orient(found.directions, whitened), rows)
        self.index_values_ = found.bimodality
        return self
