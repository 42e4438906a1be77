"""Pictures in scikit-learn's Display manner: data in, a display with `ax_` and `figure_` out.

`Display.from_estimator(...)` or `.from_...` computes what is shown and draws it; `plot` draws it
again. Nothing draws every point: beyond a few thousand rows, rows are counted in bins.
"""

from sightline.plots.climb import ClimbDisplay
from sightline.plots.index_null import IndexNullDisplay
from sightline.plots.loadings import LoadingsDisplay
from sightline.plots.pairs import PairsDisplay
from sightline.plots.projection import ProjectionDisplay
from sightline.plots.scatter import ScatterDisplay

__all__ = [
    "ClimbDisplay",
    "IndexNullDisplay",
    "LoadingsDisplay",
    "PairsDisplay",
    "ProjectionDisplay",
    "ScatterDisplay",
]
