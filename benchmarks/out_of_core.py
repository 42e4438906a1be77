"""A fit of a `.npy` larger than memory should be: its peak memory, its passes, its rate.

The file (8 GB of float32 in 100 columns, a cluster of a tenth of the rows planted) is made in the
folder given and deleted after. One process fits it, through a memory map, and reports its peak
memory, resident (`peak_mb`, pages of the map included) and its own (`peak_anonymous_mb`). The
system's cache of the file is nobody's memory; it is dropped before the fit and grows again.

The rate of the whole fit is held against whichever binds: reading the file from the disk as often
as the fit does, or the bare products that it asks for on rows in memory, which are the scatter and
the whitening (float64) and those with the directions (float32). Times of products are of the
processor, summed over threads, so that a busy machine does not count. `--how` is "full" (each step
on all rows), "fresh" (each on rows of its own), "adaptive", or "stream", which is `partial_fit`.
Run it as

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/out_of_core.py FOLDER
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from harness import hardware, print_header
from sightline import ProjectionPursuit
from sightline.lazy import LazyRows
from sightline.sources.stored import memory_map_rows

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


@dataclass(frozen=True)
class Products:
    """Seconds of one core that each of a fit's bare products takes for a row; medians of nine."""

    scatter: float
    whiten: float
    score: float
    pull: float

    @classmethod
    def measured(cls, starts: int) -> Products:
        rng = np.random.default_rng(0)
        rows = rng.standard_normal((64 * BLOCK, COLUMNS), dtype=np.float32)
        matrix = rng.standard_normal((COLUMNS, COLUMNS))
        directions = rng.standard_normal((COLUMNS, starts), dtype=np.float32)
        scores = rng.standard_normal((BLOCK, starts), dtype=np.float32)
        # Memory is used again, as a library that wants the rate of its products has to.
        wide, whitened = np.empty((8 * BLOCK, COLUMNS)), np.empty((BLOCK, COLUMNS))
        square, pulls = np.empty((COLUMNS, COLUMNS)), np.empty((COLUMNS, starts), np.float32)

        def scatter(block: np.ndarray) -> None:
            np.copyto(wide, block)
            np.matmul(wide.T, wide, out=square)

        def whiten(block: np.ndarray) -> None:
            np.copyto(wide[:BLOCK], block)
            np.matmul(wide[:BLOCK], matrix, out=whitened)

        products = {
            "scatter": (8 * BLOCK, scatter),
            "whiten": (BLOCK, whiten),
            "score": (BLOCK, lambda block: np.matmul(block, directions, out=scores)),
            "pull": (BLOCK, lambda block: np.matmul(block.T, scores, out=pulls)),
        }
        seconds: dict[str, list[float]] = {name: [] for name in products}
        with threadpool_limits(1):
            for _ in range(9):
                for name, (size, product) in products.items():
                    begin = processor_time()
                    for first in range(0, len(rows), size):
                        product(rows[first : first + size])
                    seconds[name].append((processor_time() - begin) / len(rows))
        return cls(**{name: statistics.median(each) for name, each in seconds.items()})

    def of_step(self) -> float:
        """Return what a step on all rows asks for: it values its iterate and climbs from it."""
        return self.whiten + self.score + self.pull

    def of_fit(self, steps: int, resample: str) -> float:
        """Return what a whole fit asks for, from whitening to the values that are returned.

        Both kinds end with a step that would show whether they stand still, and with the values.
        """
        whole = self.scatter + self.of_step() + self.whiten + self.score
        if resample == "full":  # the first step has no value to share, the last one no slope
            return whole + 2 * (steps * self.of_step() + self.whiten + self.score)
        # A step each on its own rows; all iterates of a run on half of the rows; the last on all.
        compared = self.whiten + steps * self.score
        return whole + self.of_step() + compared + self.whiten + self.score


class PeakMemory:
    """The most memory that was this process's own, looked at twenty times a second."""

    def __enter__(self) -> PeakMemory:
        self.anonymous = 0.0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._done.wait(0.05):
            status = Path("/proc/self/status").read_text()
            kilobytes = int(status.partition("RssAnon:")[2].split()[0])
            self.anonymous = max(self.anonymous, kilobytes / 1024)


def stream(path: Path, starts: int) -> dict[str, float]:
    """Read the file once, each batch a step, and say what it took."""
    rows = np.load(path, mmap_mode="r")
    pursuit = ProjectionPursuit(n_starts=starts, random_state=0)
    begin, start = processor_time(), time.perf_counter()
    with PeakMemory() as memory:
        pursuit.partial_fit(rows)
    wall, busy = time.perf_counter() - start, processor_time() - begin
    bare = Products.measured(starts)
    held, batch = 50 * COLUMNS, 4096  # psi is asked on the rows that are held, once a batch
    return {
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "peak_anonymous_mb": memory.anonymous,
        "fit_wall": wall,
        "fit_processor": busy,
        "bare_processor": (bare.of_step() + held / batch * bare.score) * len(rows),
        "alignment": alignment(pursuit),
        "steps": pursuit.n_iter_,
    }


def alignment(pursuit: ProjectionPursuit) -> float:
    return abs(float(np.sum(pursuit.components_[0])) / COLUMNS**0.5)


def counted(path: Path) -> tuple[LazyRows, list[int]]:
    """Return the rows of the file, as `fit` reads a memory map, and how many each reading took."""
    rows, asked = memory_map_rows(np.load(path, mmap_mode="r")), list[int]()
    read = rows.read

    def counting(start: int, stop: int) -> np.ndarray:
        asked.append(stop - start)
        return read(start, stop)

    rows.read = counting
    return rows, asked


def fit(path: Path, starts: int | None, steps: int | None, how: str) -> dict[str, float]:
    """Fit in this process, and say what it took."""
    rows, asked = counted(path)
    options = {} if how == "adaptive" else {"solver": "two-step", "resample": how}
    pursuit = ProjectionPursuit(n_starts=starts, n_steps=steps, random_state=0, **options)
    begin, start = processor_time(), time.perf_counter()
    with PeakMemory() as memory:
        pursuit.fit(rows)
    wall, busy = time.perf_counter() - start, processor_time() - begin
    found = {
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "peak_anonymous_mb": memory.anonymous,
        "fit_wall": wall,
        "fit_processor": busy,
        "passes": sum(asked) / rows.shape[0],
        "alignment": alignment(pursuit),
        "steps": pursuit.n_iter_,
    }
    if how != "adaptive":  # whose products depend on what it sees
        bare = Products.measured(starts or 400).of_fit(pursuit.n_iter_ // 2, how)
        found["bare_processor"] = bare * rows.shape[0]
    return found


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Make the file, measure the disk and the fit, and delete it."""
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="out-of-core-") as place:
        path = Path(place) / "rows.npy"
        rows = make(path, options.gigabytes)
        rate, size = read_rate(path), path.stat().st_size
        command = [sys.executable, __file__, str(path), "--fit", "--how", options.how]
        command += [f"--{name}={value}" for name, value in given(options).items()]
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        load = os.getloadavg()[0]
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        found = json.loads(out)
        found |= {"disk_wall": size / rate, "load_before": load, "load_after": os.getloadavg()[0]}
    known = {"rows": rows, "columns": COLUMNS, "bytes": size, "how": options.how}
    return known | given(options) | found


def given(options: argparse.Namespace) -> dict[str, int]:
    """Return starts and steps where they were given: the solver's own otherwise."""
    both = {"starts": options.starts, "steps": options.steps}
    return {name: value for name, value in both.items() if value is not None}


def show(found: dict[str, object]) -> None:
    print(f"{found['bytes'] / 1e9:.2f} GB, {found['rows']} rows, by {found['how']!r}")
    print(
        f"peak memory {found['peak_mb']:.0f} MB, {found['peak_anonymous_mb']:.0f} MB of it the "
        f"process's own; alignment {found['alignment']:.4f}"
    )
    print(f"fit: {found['fit_wall']:.0f} s, {found['fit_processor']:.0f} s of the processor")
    if "passes" in found:
        print(f"{found['passes']:.2f} passes over the file")
    print(f"the file read once from the disk: {found['disk_wall']:.1f} s")
    if "ratio" in found:
        print(
            f"{found['binds']} bind on {os.cpu_count()} idle cores; the fit's products: "
            f"{found['bare_processor']:.0f} s of the processor, {found['ratio']:.2f} of the fit"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--how", default="full", choices=("full", "fresh", "adaptive", "stream"))
    parser.add_argument("--starts", type=int, help="the solver's own unless given")
    parser.add_argument("--steps", type=int, help="the solver's own unless given")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--fit", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.fit:
        path, starts = options.folder, options.starts
        if options.how == "stream":
            print(json.dumps(stream(path, starts or 400)))
        else:
            print(json.dumps(fit(path, starts, options.steps, options.how)))
        return
    print_header("A fit of a file", seed=0)
    found = measure(options)
    if "bare_processor" in found:
        disk = found["disk_wall"] * found.get("passes", 1)
        products = found["bare_processor"] / (os.cpu_count() or 1)
        found["ratio"] = found["bare_processor"] / found["fit_processor"]
        found["binds"] = "the disk" if disk > products else "the products"
    show(found)
    if options.json:
        found |= {"hardware": hardware(), "seed": 0}
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
