"""The kernels as Triton compiles them for a Hopper GPU, which needs no GPU."""

import os
import re
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("torch")
triton = pytest.importorskip("triton")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::UserWarning")]

INDEX = {"VALUE": "t * t", "SLOPE": "t + abs(t)"}
SETTINGS = {"WITH_VALUES": False, "WITH_PULLS": True, "PRECISION": "tf32", "STARTS": 128}
COMPILED = [  # kernel, dtype, columns, rows, warps: as `sightline.kernels.fused` calls them
    ("fused_kernel", "bf16", 128, 64, 4),
    ("fused_kernel", "bf16", 16, 64, 4),
    ("fused_kernel", "fp32", 128, 64, 8),
    ("fused_kernel", "fp32", 16, 64, 8),
    ("slope_kernel", "bf16", 64, 128, 8),
    ("slope_kernel", "fp32", 32, 128, 8),
    ("pull_kernel", "bf16", 128, 64, 8),
]


@pytest.mark.parametrize("case", COMPILED, ids=str)
def test_sums_stay_in_registers_and_products_on_the_matrix_units(case, tmp_path):
    name, dtype, columns, rows, warps = case
    from triton.backends.compiler import GPUTarget  # noqa: PLC0415
    from triton.compiler import ASTSource  # noqa: PLC0415

    from sightline.kernels import triton_kernels  # noqa: PLC0415
    from sightline.kernels.triton_functions import triton_function  # noqa: PLC0415

    kernel = getattr(triton_kernels, name)
    given = SETTINGS | {"COLUMNS": columns, "ROWS": rows}
    given |= {key: triton_function(formula) for key, formula in INDEX.items()}
    arguments = kernel.arg_names
    constants = {(arguments.index(key),): given[key] for key in arguments if key in given}
    kinds = {"G": "*fp32", "V": "*fp32", "X": f"*{dtype}", "U": f"*{dtype}", "S": f"*{dtype}"}
    signature = {key: kinds.get(key, "constexpr" if key in given else "i32") for key in arguments}
    aligned = {
        (place,): [["tt.divisibility", 16]]
        for place, key in enumerate(arguments)
        if key in kinds or key in ("columns", "stride", "rows_each")
    }
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=aligned)
    options = {"num_warps": warps, "num_stages": 3}
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32), options=options)
    assert "wgmma.mma_async" in compiled.asm["ptx"]
    assert compiled.metadata.shared <= 227 * 1024
    binary = tmp_path / "kernel.cubin"
    binary.write_bytes(compiled.asm["cubin"])
    folder = Path(triton.__file__).parent / "backends" / "nvidia" / "bin"
    usage = subprocess.run(
        [os.fspath(folder / "cuobjdump"), "--dump-resource-usage", os.fspath(binary)],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert int(re.search(r"STACK:(\d+)", usage).group(1)) == 0, usage
