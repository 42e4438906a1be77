"""The fused step under Triton's interpreter, whose setting has to precede the first import.

Prints, as JSON, relative errors against the plain step in float64, and what a whole search finds
whose long steps are fused. The interpreter knows float16, whose 11 significant bits are those of
tf32, and has no products of bfloat16.
"""

import json
import os

os.environ["TRITON_INTERPRET"] = "1"

import numpy as np
import torch

import sightline.kernels
from sightline import adaptive_ascent
from sightline.datasets import ImbalancedClusters, make_planted
from sightline.indices import INDICES, LogCosh
from sightline.kernels.fused import FusedStep
from sightline.kernels.plain import PlainStep

SHAPES = ((77, 3, 5), (530, 130, 20), (150, 9, 130))  # rows, starts, columns


def errors():
    torch.manual_seed(0)
    indices = [kind() for kind in INDICES.values() if not kind.whole_sample]
    for n, m, d in SHAPES:
        X = torch.distributions.Exponential(1.0).sample((n, d)) - 0.5
        u = torch.nn.functional.normalize(torch.randn(m, d), dim=1)
        for index in [*indices, LogCosh(1, scale=3)]:
            exact = PlainStep(index, index, u.double())(X.double())
            for dtype in (torch.float32, torch.float16):
                step = FusedStep(index, index, u, dtype)
                got = step(step.table(X))
                assert got.pulls.shape == exact.pulls.shape
                apart = [
                    float((a.double() - b).norm() / b.norm())
                    for a, b in ((got.values, exact.values), (got.pulls, exact.pulls))
                ]
                yield {"index": repr(index), "shape": [n, m, d], "dtype": str(dtype), "off": apart}


def searches():
    options = {"n_starts": 12, "n_steps": 40, "random_state": 0}
    for index in ("relu2", "approx-entropy"):
        X, direction, _ = make_planted(400, 6, signal=ImbalancedClusters(0.1), random_state=0)
        X = torch.asarray(X.astype(np.float32))
        full = adaptive_ascent(X, index=index, **options)
        calls = []

        def narrow(table, calls=calls):
            calls.append(table.shape)
            return torch.float16

        sightline.kernels.rough_dtype = narrow
        rough = adaptive_ascent(X, index=index, **options)
        sightline.kernels.rough_dtype = lambda table: None
        yield {
            "index": index,
            "steps": len(calls),
            "alignments": [abs(float(f.direction.numpy() @ direction)) for f in (full, rough)],
            "between": abs(float(full.direction @ rough.direction)),
        }


if __name__ == "__main__":
    print(json.dumps({"errors": list(errors()), "searches": list(searches())}))
