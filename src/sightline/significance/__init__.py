"""Is it more than noise would give? P-values after a search, and the paper's test Psi."""

from sightline.significance.along import standard_values_along
from sightline.significance.direction_test import DirectionTest, planted_test, standard_values
from sightline.significance.null_search import NullPValues, null_p_values
from sightline.significance.rotation import RotatedRows, rotated_rows

__all__ = [
    "DirectionTest",
    "NullPValues",
    "RotatedRows",
    "null_p_values",
    "planted_test",
    "rotated_rows",
    "standard_values",
    "standard_values_along",
]
