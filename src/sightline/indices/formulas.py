"""Formulas of indices as text, from which accelerators make functions of their own.

A formula is an expression in the score `t`: numbers, `+ - * /`, and the functions of `FUNCTIONS`,
for example "t * exp(-0.5 * t * t)". Nothing else is accepted, and nothing of it is executed as
Python.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from sightline._arrays import Array, Namespace

Formulas = tuple[tuple[str, str], ...]
"""Value and slope of each feature."""

FUNCTIONS = ("abs", "sign", "exp", "log", "sqrt", "tanh", "minimum", "maximum")
"""What a formula may call; `minimum` and `maximum` take two arguments, the others one."""

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}


def parse(formula: str) -> ast.expr:
    """Return the expression of a formula, or say what in it can't be understood."""
    try:
        parsed = ast.parse(formula, mode="eval").body
    except SyntaxError as error:
        raise ValueError(f"formula {formula!r} is no expression: {error.msg}.") from None
    _check(parsed, formula)
    return parsed


def _check(node: ast.expr, formula: str) -> None:
    match node:
        case ast.Name(id="t"):
            return
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            _check(operand, formula)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div(), right=right):
            _check(left, formula)
            _check(right, formula)
        case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if (
            name in FUNCTIONS and len(given) == 1 + (name in ("minimum", "maximum"))
        ):
            for argument in given:
                _check(argument, formula)
        case _:
            raise ValueError(
                f"formula {formula!r} has {ast.unparse(node)!r} in it; a formula is made of the "
                f"score t, numbers, + - * / and {', '.join(FUNCTIONS)}."
            )


def evaluate(formula: str, scores: Array, xp: Namespace) -> Array:
    """Return the values of a formula at all scores."""
    return _value(parse(formula), scores, xp)


def _value(node: ast.expr, scores: Array, xp: Namespace) -> Any:
    match node:
        case ast.Constant(value=number):
            return number
        case ast.UnaryOp(operand=operand):
            return -_value(operand, scores, xp)
        case ast.BinOp(left=left, op=operator, right=right):
            both = (_value(side, scores, xp) for side in (left, right))
            return _OPERATORS[type(operator)](*both)
        case ast.Call(func=ast.Name(id=name), args=given):
            arguments = [xp.asarray(_value(each, scores, xp)) for each in given]
            return getattr(xp, name)(*arguments)
        case _:
            return scores
