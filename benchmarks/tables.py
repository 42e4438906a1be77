"""Write the tables of docs/benchmarks.md from the results under docs/results.

`sightline bench NAME --json > docs/results/bench-NAME.json` and `python benchmarks/grid.py --table
--json docs/results/grid.json` make the results. A table stands between `<!-- table: NAME -->` and
`<!-- end -->`.

    python benchmarks/tables.py            # write them
    python benchmarks/tables.py --check    # say whether they are up to date
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "benchmarks.md"
SHORT = 0.05


def shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 0.01 or abs(value) >= 100 else f"{value:.3f}"
    return "-" if value is None else str(value)


def lines_of(rows: Iterable[dict[str, Any]]) -> list[str]:
    """Return rows as lines of a table in Markdown, numbers to the right."""
    rows = list(rows)
    marks = ["---" if isinstance(value, str) else "---:" for value in rows[0].values()]
    cells = [list(rows[0]), marks, *([shown(value) for value in row.values()] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in cells]


def machine_of(results: dict[str, Any]) -> str:
    facts = dict(results["hardware"])
    blas = ", ".join(x for x in facts.pop("blas") if "openmp" not in x)
    processor, cores = facts.pop("processor"), facts.pop("cores")
    return f"{processor}, {cores} cores; {blas}; " + ", ".join(
        f"{k} {v}" for k, v in facts.items()
    )


def bench_table(name: str) -> list[str]:
    results = json.loads((DOCS / "results" / f"bench-{name}.json").read_text())
    report = results["benchmarks"][name]
    head = f"{report['title']}; seed {results['seed']}, {results['rounds']} rounds."
    notes = [f"- {note}" for note in report["notes"]]
    return [head, "", *lines_of(report["rows"]), "", *notes, "", machine_of(results)]


def grid_table() -> list[str]:
    results = json.loads((DOCS / "results" / "grid.json").read_text())
    rows, short = [], 0
    for cell in results["cells"]:
        alignments = cell.pop("alignments")
        means = {name: float(np.mean(a)) if a else None for name, a in alignments.items()}
        best = max((name for name in means if name != "default" and means[name]), key=means.get)
        gaps = np.subtract(alignments[best], alignments["default"])
        error = gaps.std(ddof=1) / np.sqrt(gaps.size)
        is_short = gaps.mean() > SHORT
        short += bool(is_short)
        mark = f"{gaps.mean():.2f} ± {error:.2f} ({best})" if is_short else ""
        sets = len(alignments["default"])
        rounded = {name: None if mean is None else f"{mean:.2f}" for name, mean in means.items()}
        rows.append(cell | {"sets": sets} | rounded | {"short by": mark})
    head = (
        f"{len(rows)} cells; in {short} the default is over {SHORT} below the best of the others."
    )
    return [head, "", *lines_of(rows), "", machine_of(results)]


def page() -> str:
    """Return the page with its tables as the results say."""
    makers = {"grid": grid_table} | {
        name: lambda name=name: bench_table(name) for name in ("step", "fit", "cost", "peers")
    }

    def table(found: re.Match[str]) -> str:
        return "\n".join((found[1], *makers[found[2]](), "<!-- end -->"))

    pattern = r"(<!-- table: (\w+) -->)\n.*?<!-- end -->"
    return re.sub(pattern, table, PAGE.read_text(), flags=re.DOTALL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = page()
    if not options.check:
        PAGE.write_text(text)
    elif text != PAGE.read_text():
        sys.exit(f"{PAGE} is not what docs/results say: run python benchmarks/tables.py")


if __name__ == "__main__":
    main()
