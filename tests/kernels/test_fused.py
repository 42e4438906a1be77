"""The step for accelerators: in Triton's interpreter, in emulated bfloat16, and compiled."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sightline import adaptive_ascent, sums
from sightline.datasets import BernoulliRademacher, ImbalancedClusters, make_planted
from sightline.kernels import Partial, Step, make_step

torch = pytest.importorskip("torch")
pytest.importorskip("triton")
HELPERS = Path(__file__).parents[1] / "helpers"


@pytest.fixture(scope="module")
def interpreted():
    command = [sys.executable, "-W", "ignore", HELPERS / "interpreted_steps.py"]
    out = subprocess.run(command, capture_output=True, text=True, check=False)
    assert out.returncode == 0, out.stderr
    return json.loads(out.stdout)


def test_the_fused_step_is_the_plain_one(interpreted):
    assert len(interpreted["errors"]) == 3 * 8 * 2
    for case in interpreted["errors"]:
        # float16 rounds rows, directions and slopes to 2^-11 of themselves: measured up to 7e-4,
        # and 4e-3 where scores near the kink of |t| change their sign.
        kink = "Abs" in case["index"]
        bound = 1e-6 if case["dtype"] == "torch.float32" else (2**-7 if kink else 2**-9)
        assert max(case["off"]) < bound, case


def test_rough_steps_end_where_full_ones_do(interpreted):
    for case in interpreted["searches"]:
        assert case["steps"] >= 4, case  # it was taken, and the last steps were not rough
        full, rough = case["alignments"]
        assert abs(full - rough) < 1e-3, case
        assert case["between"] > 1 - 1e-3, case


class RoundedStep(Step):
    """The plain step of rows, directions and slopes rounded to bfloat16, summed in float32."""

    def __init__(self, index, directions):
        self.index, self.directions = index, rounded(directions)
        self.taken = 0

    def __call__(self, rows):
        rows = rounded(rows)
        slope = rounded(self.index.slope(rows @ self.directions.T, torch))
        return Partial(rows.shape[0], None, (rows.T @ slope)[None])


def rounded(x):
    return x.to(torch.bfloat16).to(torch.float32)


@pytest.mark.parametrize("index", ["relu2", "abs", "kurtosis", "logcosh"])
def test_bfloat16_climbs_to_the_same_alignment(index, monkeypatch):
    signal = ImbalancedClusters(0.1) if index == "relu2" else BernoulliRademacher(0.1)
    X, direction, _ = make_planted(1500, 20, signal=signal, random_state=0)
    X = torch.asarray(X.astype(np.float32))
    options = {"index": index, "n_starts": 64, "n_steps": 40, "random_state": 0}
    full = adaptive_ascent(X, **options)
    taken = []

    def emulated(psi, phi, directions, rows, *, rough=False):
        if not rough:
            return make_step(psi, phi, directions, rows)
        taken.append(rows.shape)
        return RoundedStep(phi, directions)

    monkeypatch.setattr(sums, "make_step", emulated)
    rough = adaptive_ascent(X, **options)
    assert len(taken) >= 4
    apart = [abs(float(found.direction.numpy() @ direction)) for found in (full, rough)]
    assert apart[0] > 0.95
    assert abs(apart[0] - apart[1]) < 1e-3
    np.testing.assert_allclose(rough.value, full.value, rtol=1e-3)


def test_the_callers_setting_says_how_rough(monkeypatch):
    from sightline import _arrays  # noqa: PLC0415

    class OnDevice:
        dtype, device = torch.float32, torch.device("cuda")

    monkeypatch.setattr(_arrays.array_api_compat, "is_torch_array", lambda x: True)
    try:
        for setting, dtype in (
            ("highest", None),
            ("high", torch.float32),
            ("medium", torch.bfloat16),
        ):
            torch.set_float32_matmul_precision(setting)
            assert _arrays.rough_dtype(OnDevice()) == dtype
            with _arrays.full_products(OnDevice()):
                assert torch.get_float32_matmul_precision() == "highest"
                assert _arrays.rough_dtype(OnDevice()) is None
            assert torch.get_float32_matmul_precision() == setting
        OnDevice.dtype = torch.float64
        assert _arrays.rough_dtype(OnDevice()) is None
        OnDevice.dtype, OnDevice.device = torch.float32, torch.device("cpu")
        assert _arrays.rough_dtype(OnDevice()) is None
    finally:
        torch.set_float32_matmul_precision("highest")


def test_narrow_rows_are_made_once_and_go_with_their_rows():
    from sightline.kernels.fused import _Narrow, padded_columns  # noqa: PLC0415

    narrow, X = _Narrow(), torch.randn(10, 5)
    table = narrow.of(X, torch.bfloat16, 16)
    assert table.shape == (10, 16)
    assert torch.equal(table[:, :5], X.bfloat16())
    assert not table[:, 5:].any()
    assert narrow.of(X, torch.bfloat16, 16) is table
    X[0, 0] = 7  # written to: another version
    assert narrow.of(X, torch.bfloat16, 16)[0, 0] == 7
    assert narrow.of(X, torch.float32, 5) is X
    del X
    assert narrow._table is None
    assert [padded_columns(d) for d in (1, 16, 17, 100, 128, 129, 300, 784)] == [
        16, 16, 32, 128, 128, 192, 320, 832,
    ]  # fmt: skip
