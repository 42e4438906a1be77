"""A two-step fit of a `.npy` larger than memory should be: its peak memory, and its rate.

The file (8 GB of float32 in 100 columns, a cluster of a tenth of the rows planted) is made in the
folder given and deleted after. One process fits it, through a memory map, and reports its peak
memory. The rate is that of a step, one pass over the file, against whichever binds: reading the
file from the disk, or the step's bare products on rows in memory, which are the whitening
(float64) and two with the directions (float32). Times of products are of the processor, summed
over threads, so that a busy machine does not count. With `--steps 0` it is `partial_fit` that
reads the file, once. Run it as

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/out_of_core.py FOLDER
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from harness import hardware, print_header
from sightline import ProjectionPursuit, resumable

COLUMNS, PIECE, BLOCK = 100, 2**17, 512


def make(path: Path, gigabytes: float) -> int:
    """Write the file piece by piece: one piece of normal rows, rolled and its signs changed."""
    pieces = max(1, round(gigabytes * 1e9 / (4 * COLUMNS * PIECE)))
    rng = np.random.default_rng(0)
    normal = rng.standard_normal((PIECE, COLUMNS), dtype=np.float32)
    direction = np.full(COLUMNS, COLUMNS**-0.5, dtype=np.float32)
    with path.open("wb") as file:
        shape = (pieces * PIECE, COLUMNS)
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(pieces):
            rows = np.roll(normal, rng.integers(PIECE), axis=0)
            rows *= rng.choice(np.float32([-1, 1]), COLUMNS)
            rows[rng.random(PIECE) < 0.1] += 4 * direction
            rows.tofile(file)
        file.flush()
        os.fsync(file.fileno())
    return pieces * PIECE


def read_rate(path: Path) -> float:
    """Return bytes a second from the disk, not from the system's cache."""
    buffer = bytearray(2**24)
    with path.open("rb", buffering=0) as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        start, size = time.perf_counter(), 0
        while read := file.readinto(buffer):
            size += read
        return size / (time.perf_counter() - start)


def processor_time() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def bare_products(starts: int, compared: float = 0.0) -> float:
    """Return seconds of one core that the products of a step take for a row; median of nine.

    `compared` are the rows, for each row of the step, on which psi is asked besides.
    """
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((64 * BLOCK, COLUMNS), dtype=np.float32)
    matrix = rng.standard_normal((COLUMNS, COLUMNS))
    directions = rng.standard_normal((COLUMNS, starts), dtype=np.float32)
    seconds = []
    with threadpool_limits(1):
        for _ in range(9):
            begin = processor_time()
            for first in range(0, len(rows), BLOCK):
                block = rows[first : first + BLOCK]
                block.astype(np.float64) @ matrix
                block.T @ (block @ directions)
                block[: int(compared % 1 * BLOCK)] @ directions
                for _ in range(int(compared)):
                    block @ directions
            seconds.append(processor_time() - begin)
    return statistics.median(seconds) / len(rows)


def stream(path: Path, starts: int) -> dict[str, float]:
    """Read the file once, each batch a step, and say what it took."""
    rows = np.load(path, mmap_mode="r")
    pursuit = ProjectionPursuit(n_starts=starts, random_state=0)
    begin, start = processor_time(), time.perf_counter()
    pursuit.partial_fit(rows)
    wall, busy = time.perf_counter() - start, processor_time() - begin
    held, batch = 50 * COLUMNS, 4096  # psi is asked on the rows that are held, once a batch
    return {
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "fit_wall": wall,
        "fit_processor": busy,
        "step_processor": busy,
        "step_wall": wall,
        "bare_processor": bare_products(starts, compared=held / batch) * len(rows),
        "alignment": alignment(pursuit),
        "steps": pursuit.n_iter_,
    }


def alignment(pursuit: ProjectionPursuit) -> float:
    return abs(float(np.sum(pursuit.components_[0])) / COLUMNS**0.5)


def fit(path: Path, starts: int, steps: int) -> dict[str, float]:
    """Fit in this process, and say what it took."""
    marks: list[tuple[int, float, float]] = []

    def mark(step: int, _: int) -> None:
        marks.append((step, processor_time(), time.perf_counter()))

    rows = np.load(path, mmap_mode="r")
    pursuit = ProjectionPursuit(solver="two-step", n_starts=starts, n_steps=steps, random_state=0)
    begin, start = processor_time(), time.perf_counter()
    with resumable(progress=mark):
        pursuit.fit(rows)
    wall, busy = time.perf_counter() - start, processor_time() - begin
    pairs = [(a, b) for a, b in itertools.pairwise(marks) if a[0] + 1 == b[0] < steps]
    return {
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "fit_wall": wall,
        "fit_processor": busy,
        "step_processor": statistics.median(b[1] - a[1] for a, b in pairs),
        "step_wall": statistics.median(b[2] - a[2] for a, b in pairs),
        "bare_processor": bare_products(starts) * len(rows),
        "alignment": alignment(pursuit),
        "steps": pursuit.n_iter_,
    }


def measure(folder: Path, gigabytes: float, starts: int, steps: int) -> dict[str, object]:
    """Make the file, measure the disk and the fit, and delete it."""
    with tempfile.TemporaryDirectory(dir=folder, prefix="out-of-core-") as place:
        path = Path(place) / "rows.npy"
        rows = make(path, gigabytes)
        rate, size = read_rate(path), path.stat().st_size
        command = [sys.executable, __file__, str(path), "--fit"]
        command += ["--starts", str(starts), "--steps", str(steps)]
        out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = json.loads(out)
    found["disk_wall"] = size / rate
    return {"rows": rows, "columns": COLUMNS, "bytes": size, "starts": starts} | found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--starts", type=int, default=64)
    parser.add_argument("--steps", type=int, default=3, help="0: partial_fit, one pass")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--fit", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit:
        path, starts, steps = options.folder, options.starts, options.steps
        print(json.dumps(fit(path, starts, steps) if steps else stream(path, starts)))
        return
    print_header("Two-step fit of a file", seed=0)
    found = measure(options.folder, options.gigabytes, options.starts, options.steps)
    threads = os.cpu_count() or 1
    bound = max(found["disk_wall"], found["bare_processor"] / threads)
    binds = "the disk" if bound == found["disk_wall"] else "the products"
    print(f"{found['bytes'] / 1e9:.2f} GB, {found['rows']} rows, {found['starts']} starts")
    print(f"peak memory {found['peak_mb']:.0f} MB, alignment {found['alignment']:.4f}")
    print(f"fit: {found['fit_wall']:.0f} s, {found['fit_processor']:.0f} s of the processor")
    print(f"read once from the disk: {found['disk_wall']:.1f} s")
    ratio = found["bare_processor"] / found["step_processor"]
    print(
        f"a step: {found['step_wall']:.1f} s, {found['step_processor']:.1f} s of the processor; "
        f"its products {found['bare_processor']:.1f} s: {ratio:.2f} of their rate"
    )
    print(f"{binds} bind on {threads} idle cores: {bound:.1f} s a pass")
    if options.json:
        found |= {"ratio": ratio, "binds": binds, "hardware": hardware(), "seed": 0}
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
