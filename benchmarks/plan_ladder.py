"""Add the adaptive solver's larger cells to the plan's table, from another benchmark's ladder.

`sample_efficiency.py` climbs a ladder of n and notes the mean alignment of 30 data sets; its table
in `docs/research/adaptive.md` has the two rungs about 0.9. A search succeeds near 1 or fails far
below, so a mean says how many succeeded; the logistic curve through both rungs is the cell's line.
How low the failures lie hardly matters: with 0.05 for 0.2 no cell moves by over 4%.

    python -m benchmarks.plan_ladder
"""

from __future__ import annotations

import csv

from benchmarks.plan_table import TABLE, Cell, known_cells, logistic_fit

TRIALS = 30
FAILED = 0.2
LADDER = {  # signal, d, p: (n, mean alignment) at the rung below 0.9 and at the one above
    ("clusters", 64, 64**-0.5): ((128, 0.728), (152, 0.938)),
    ("clusters", 128, 128**-0.5): ((252, 0.840), (300, 1.000)),
    ("clusters", 256, 256**-0.5): ((362, 0.428), (431, 0.903)),
    ("clusters", 512, 512**-0.5): ((778, 0.485), (925, 0.936)),
    ("clusters", 1024, 1024**-0.5): ((1722, 0.835), (2048, 1.000)),
    ("clusters", 128, 0.3): ((1218, 0.689), (1448, 1.000)),
    ("clusters", 256, 0.3): ((3444, 0.778), (4096, 1.000)),
    ("clusters", 512, 0.3): ((9742, 0.712), (11585, 0.903)),
    ("clusters", 128, 0.44): ((11585, 0.840), (16384, 1.000)),
    ("sparse", 64, 64**-0.5): ((181, 0.735), (215, 0.962)),
    ("sparse", 128, 128**-0.5): ((318, 0.783), (378, 0.904)),
    ("sparse", 256, 256**-0.5): ((609, 0.876), (724, 0.965)),
    ("sparse", 512, 512**-0.5): ((1218, 0.773), (1448, 0.996)),
    ("sparse", 1024, 1024**-0.5): ((2435, 0.705), (2896, 0.963)),
    ("sparse", 64, 0.3): ((4871, 0.790), (5793, 0.940)),
    ("sparse", 128, 0.233): ((5793, 0.839), (6889, 1.000)),
    ("sparse", 256, 0.189): ((11585, 0.812), (13777, 0.994)),
}


def successes(mean: float) -> int:
    """Return of how many of the data sets a mean alignment speaks, failures being at FAILED."""
    return max(0, min(TRIALS, round(TRIALS * (mean - FAILED) / (1 - FAILED))))


def main() -> None:
    known = known_cells(TABLE)
    with TABLE.open("a", newline="") as stream:
        for (signal, d, p), rungs in LADDER.items():
            cell = Cell("adaptive", signal, d, round(p, 4))
            if cell in known:
                continue
            hits = {n: successes(mean) for n, mean in rungs}
            rows, width = logistic_fit(
                {n: [True] * hit + [False] * (TRIALS - hit) for n, hit in hits.items()}
            )
            line = (*cell, f"{rows:.1f}", f"{width:.3f}", TRIALS)
            csv.writer(stream, lineterminator="\n").writerow(line)


if __name__ == "__main__":
    main()
