"""Formulas of indices as functions that Triton compiles into the step."""

from __future__ import annotations

import ast
import linecache
from functools import cache
from typing import Any

import triton
import triton.language as tl

from sightline.indices.formulas import parse


@triton.jit
def sign(t):
    """Return the sign of t; 0 at 0."""
    return tl.where(t > 0, 1.0, 0.0) - tl.where(t < 0, 1.0, 0.0)


@triton.jit
def tanh(t):
    """Return tanh t = 1 - 2 / (exp 2t + 1): exact at both ends, where exp is infinite or 0."""
    return 1.0 - 2.0 / (tl.exp(2.0 * t) + 1.0)


_LANGUAGE = {"abs", "exp", "log", "sqrt", "minimum", "maximum"}
"""Functions that are Triton's own; the others are the two above."""


class _InTriton(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in _LANGUAGE:
            node.func = ast.Attribute(ast.Name("tl", ast.Load()), node.func.id, ast.Load())
        return node


@cache
def triton_function(formula: str) -> Any:
    """Return the formula as a function that Triton kernels may be given."""
    expression = ast.unparse(_InTriton().visit(parse(formula)))
    source = f"@triton.jit\ndef elementwise(t):\n    return {expression}\n"
    name = f"<formula {formula}>"
    # Triton compiles from the source, which it looks up as a traceback would.
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    names = {"triton": triton, "tl": tl, "sign": sign, "tanh": tanh, "__name__": __name__}
    exec(compile(source, name, "exec"), names)  # noqa: S102  (of a formula that `parse` let pass)
    return names["elementwise"]
