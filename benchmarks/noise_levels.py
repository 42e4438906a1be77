"""What searches find where there is nothing: the table behind index="auto".

For each index of the portfolio, whitening and shape: the best standard value of the two quick
looks on N(0, I) rows, as excess over the value of normal scores. The table holds the logarithms
of its mean and of its standard deviation; the latter, which a few searches give only roughly,
is smoothed by a plane in log d and log(n / d).

    python benchmarks/noise_levels.py --write src/sightline/noise_levels.json
    python benchmarks/noise_levels.py --check        # the table beside fresh searches in between
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from harness import print_header
from sightline.ascent import adaptive_ascent
from sightline.indices import make_index, selection_index
from sightline.portfolio import PORTFOLIO, noise_level, normal_value
from sightline.significance import standard_values_along
from sightline.whitening import fit_whitening

COLUMNS = (2, 8, 32, 100)
RATIOS = (1.25, 2.0, 4.0, 8.0, 16.0, 32.0)
LEAST_ROWS = 12
WORK = 2**18
"""Numbers in all tables of a shape: many small ones, few large ones."""


def excesses(name: str, kind: str, n: int, d: int, searches: int, **options: object) -> np.ndarray:
    """Return the best standard value of each search, less that of normal scores."""
    phi = make_index(name)
    psi = selection_index(phi)
    found = np.empty(searches)
    for seed in range(searches):
        X = np.random.default_rng(seed).standard_normal((n, d))
        rows = fit_whitening(X, kind).apply(X)
        looked = adaptive_ascent(
            rows, index=phi, n_directions=8, random_state=seed, **({"most_stages": 2} | options)
        )
        found[seed] = standard_values_along(psi, looked.directions, rows).max()
    return found - normal_value(phi)


def table() -> dict[str, object]:
    levels: dict[str, dict[str, list[list[list[float]]]]] = {}
    shapes = [(d, max(LEAST_ROWS, round(ratio * d))) for d in COLUMNS for ratio in RATIOS]
    grid = np.array([(1.0, np.log(d), np.log(ratio)) for d in COLUMNS for ratio in RATIOS])
    for kind in ("exact", "none"):
        levels[kind] = {}
        for name in PORTFOLIO:
            start = time.perf_counter()
            found = [
                excesses(name, kind, n, d, int(np.clip(WORK // (n * d), 4, 30))) for d, n in shapes
            ]
            mean = np.log([values.mean() for values in found])
            rough = np.log([values.std(ddof=1) for values in found])
            smooth = grid @ np.linalg.lstsq(grid, rough, rcond=None)[0]
            size = (len(COLUMNS), len(RATIOS))
            levels[kind][name] = [
                np.round(part.reshape(size), 4).tolist() for part in (mean, smooth)
            ]
            print(
                f"{kind:6s}{name:9s} {time.perf_counter() - start:.0f} s; deviations off the "
                f"plane by a factor of {np.exp(np.abs(rough - smooth).mean()):.2f}",
                flush=True,
            )
    return {"columns": list(COLUMNS), "ratios": list(RATIOS), "levels": levels}


def check() -> None:
    print("shape       whitening index     table: mean, sd    searches: mean, sd    full: mean")
    for n, d in ((150, 20), (600, 50), (3000, 10)):
        for kind in ("exact", "none"):
            for name in PORTFOLIO:
                noise = noise_level(name, n, d, whitened=kind == "exact")
                found = excesses(name, kind, n, d, 12) + normal_value(make_index(name))
                full = excesses(name, kind, n, d, 4, most_stages=None)
                print(
                    f"{n:5d} x {d:3d}  {kind:6s}   {name:9s} {noise.mean:8.4f} "
                    f"{noise.deviation:8.4f}   {found.mean():8.4f} {found.std(ddof=1):8.4f}   "
                    f"{full.mean() + normal_value(make_index(name)):8.4f}",
                    flush=True,
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", type=Path, help="where the table goes")
    parser.add_argument("--check", action="store_true", help="the table beside fresh searches")
    options = parser.parse_args()
    print_header("What searches find in noise", seed=0)
    if options.write:
        options.write.write_text(json.dumps(table()) + "\n")
    if options.check:
        check()


if __name__ == "__main__":
    main()
