"""The packages of R that are compared, through Rscript where it is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from sightline.benchmarking.packages import Package

Host = np.ndarray

_FRAME = """
arguments <- commandArgs(trailingOnly = TRUE)
n <- as.integer(arguments[3]); d <- as.integer(arguments[4])
set.seed(as.integer(arguments[5]))
X <- matrix(readBin(arguments[1], "double", n * d), n, d)
suppressPackageStartupMessages(library({library}))
seconds <- system.time(directions <- {call})[["elapsed"]]
writeBin(as.double(directions), arguments[2])
cat(seconds)
"""
"""Column after column in, direction after direction out, its own clock around the call."""


def _missing(library: str) -> Callable[[], str | None]:
    def missing() -> str | None:
        if shutil.which("Rscript") is None:
            return "needs Rscript"
        code = f'quit(status = !requireNamespace("{library}", quietly = TRUE))'
        asked = subprocess.run(["Rscript", "-e", code], capture_output=True, check=False)  # noqa: S603, S607
        return None if asked.returncode == 0 else f'install.packages("{library}") in R'

    return missing


def _run(library: str, call: str) -> Callable[[Host, int], tuple[Host, float]]:
    code = _FRAME.format(library=library, call=call)

    def run(X: Host, seed: int) -> tuple[Host, float]:
        n, d = X.shape
        with tempfile.TemporaryDirectory() as folder:
            script, table, out = (Path(folder) / name for name in ("run.R", "table", "out"))
            script.write_text(code)
            table.write_bytes(np.asarray(X, dtype=np.float64).tobytes(order="F"))
            command = ["Rscript", str(script), str(table), str(out), *map(str, (n, d, seed))]
            done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
            if done.returncode != 0:
                raise RuntimeError(" ".join(done.stderr.split()) or "Rscript failed")
            return np.fromfile(out).reshape(-1, d), float(done.stdout)

    return run


_FAST_ICA = '{ fitted <- fastICA(X, d, fun = "exp", method = "C"); fitted$K %*% fitted$W }'

R_PACKAGES = (
    Package("R fastICA, exp", _missing("fastICA"), _run("fastICA", _FAST_ICA)),
    Package(
        "R rrcov, PcaGrid", _missing("rrcov"), _run("rrcov", "getLoadings(PcaGrid(X, k = 1))")
    ),
)
