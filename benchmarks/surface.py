"""The command on large tables: the time of a CSV of 200,000 x 50, the memory of 1 GB of Parquet.

Both tables are normal but for one group in a hundred that lies six standard deviations out along
one direction. They are written to a folder and deleted again; the command runs as a user runs it,
in a process of its own, whose peak memory the system counts. Run it as

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/surface.py FOLDER
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from harness import print_header
from sightline.cli import outputs, reading, search
from sightline.cli.console import messages
from sightline.cli.findings import describe

COLUMNS, BLOCK = 50, 100_000
SHARE, DISTANCE = 0.01, 6.0
WRITERS = {".csv": pa.csv.CSVWriter, ".parquet": pa.parquet.ParquetWriter}

COMMAND = "import resource, sys; from sightline.cli import main\n" + (
    "try:\n    main(sys.argv[1:])\nfinally:\n"
    "    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)"
)


@contextlib.contextmanager
def table(path: Path, rows: int, seed: int) -> Iterator[Path]:
    """Write a table in blocks, and delete it in the end."""
    rng = np.random.default_rng(seed)
    direction = rng.standard_normal(COLUMNS)
    direction /= np.linalg.norm(direction)
    names = [f"c{i}" for i in range(COLUMNS)]
    schema = pa.schema([(name, pa.float32()) for name in names])
    try:
        with WRITERS[path.suffix](path, schema) as writer:
            for start in range(0, rows, BLOCK):
                X = rng.standard_normal((min(BLOCK, rows - start), COLUMNS))
                X += np.outer(DISTANCE * (rng.random(len(X)) < SHARE), direction)
                writer.write_table(pa.table(list(X.T.astype(np.float32)), schema=schema))
        yield path
    finally:
        path.unlink(missing_ok=True)


def find(path: Path, *options: str) -> dict[str, object]:
    """Run `sightline find` and return seconds, peak memory, and what it found."""
    folder = path.with_suffix(".found")
    began, used = time.perf_counter(), processor_seconds()
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "find", str(path), "--json", "--output", folder, *options],
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - began
    sizes = {file.name: file.stat().st_size for file in folder.iterdir()} if done.stdout else {}
    shutil.rmtree(folder, ignore_errors=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    first = json.loads(done.stdout)["directions"][0]
    return {
        "file": path.name,
        "options": " ".join(options),
        "seconds": round(seconds, 1),
        "processor_seconds": round(processor_seconds() - used, 1),
        "peak_mb": int(done.stderr.split()[-1]) // 1024,
        "small_side": f"{first['share']:.2%}",
        "page_mb": round(sizes["report.html"] / 2**20, 1),
    }


def processor_seconds() -> float:
    """Return what the commands so far have used: it says more than a clock on a busy machine."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def stages(path: Path) -> dict[str, float]:
    """Run `find` in this process and return the seconds of its parts."""
    began = time.perf_counter()
    taken: dict[str, float] = {}

    def lap(name: str) -> None:
        nonlocal began
        taken[name], began = round(time.perf_counter() - began, 1), time.perf_counter()

    quiet = messages(quiet=True)
    options = dict.fromkeys(("directions", "rank", "starts", "significance"))
    options |= {"index": "groups", "whiten": "auto", "sample": 20_000, "seed": 0}
    rows = reading.read_rows(
        str(path), reading.Request(), sample=options["sample"], seed=0, console=quiet
    )
    lap("read")
    found = search.search_table(rows.table, options, quiet)
    lap("search")
    result = outputs.Results(rows, found, describe(found, rows.table))
    lap("describe")
    for name in ("model", "scores", "directions", "report"):
        target = path.with_suffix(f".{name}")
        getattr(result, f"_{name}")(target)
        target.unlink()
        lap(f"write {name}")
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--csv-rows", type=int, default=200_000)
    parser.add_argument("--parquet-rows", type=int, default=5_000_000)
    parser.add_argument("--only", choices=("csv", "parquet"), help="one of the tables")
    parser.add_argument("--find", default="", help="more options of the command, in one word")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print_header("sightline find on large tables", arguments.seed)
    arguments.folder.mkdir(parents=True, exist_ok=True)
    free = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") / 2**30
    print(f"  free memory: {free:.1f} GB\n")
    more = arguments.find.split()
    if arguments.only != "parquet":
        with table(arguments.folder / "t.csv", arguments.csv_rows, arguments.seed) as path:
            print(json.dumps(find(path, *more)), flush=True)
            print(json.dumps({"seconds of the parts": stages(path)}), flush=True)
    if arguments.only != "csv":
        with table(arguments.folder / "t.parquet", arguments.parquet_rows, arguments.seed) as path:
            for options in ((), ("--max-memory", "2G")):
                print(json.dumps(find(path, *options, *more)), flush=True)


if __name__ == "__main__":
    main()
