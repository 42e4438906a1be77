"""What a picture and a page have in common: colours, groups of rows, column weights, bins."""

from sightline.views.bins import Bins, bin_scores, smooth_density, view_range
from sightline.views.groups import Groups, group_rows
from sightline.views.palette import GROUP_STYLES, MOST_GROUPS, GroupStyle, group_style
from sightline.views.weights import main_columns, standard_weights

__all__ = [
    "GROUP_STYLES",
    "MOST_GROUPS",
    "Bins",
    "GroupStyle",
    "Groups",
    "bin_scores",
    "group_rows",
    "group_style",
    "main_columns",
    "smooth_density",
    "standard_weights",
    "view_range",
]
