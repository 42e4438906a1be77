"""Rows that are not in memory: read in runs of whole blocks, worked on, and let go.

`fold_rows`, `map_rows` and `take_rows` take them in place of an array, so that every solver runs
on them as it is. Runs begin at multiples of `UNIT` rows, which every block of rows divides, and
their results are added in one binary tree over the blocks: the bits are those of an array in
memory, however long the runs are and wherever they are worked on.
"""

from sightline.lazy.stored import StoredRows, as_rows, pick_rows
from sightline.lazy.table import (
    ROW_BLOCK,
    UNIT,
    BlockRows,
    Host,
    LazyRows,
    MappedRows,
    run_length,
    tree_sum,
)

__all__ = [
    "ROW_BLOCK",
    "UNIT",
    "BlockRows",
    "Host",
    "LazyRows",
    "MappedRows",
    "StoredRows",
    "as_rows",
    "pick_rows",
    "run_length",
    "tree_sum",
]
