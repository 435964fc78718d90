"""Functions of windows as text: ``mean(price)``, ``p95=quantile(price, 0.95)``."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import Any

from windrow import functions
from windrow.core.aggregate import Aggregate
from windrow.core.errors import WindrowError
from windrow.functions.missteps import function_meant

_HINT = 'write it as "mean(price)" or "p95=quantile(price, 0.95)".'


def functions_of(texts: Sequence[str]) -> dict[str, Aggregate[Any, Any, Any]]:
    """The functions by result name; without a name, one is made of the function and its columns.

    >>> functions_of(["mean(price)", "best=top_k(price, 3, by='seq no')"])
    {'mean_price': Mean('price'), 'best': TopK('price', k=3, by='seq no')}
    """
    found: dict[str, Aggregate[Any, Any, Any]] = {}
    for text in texts:
        given = re.fullmatch(r"\s*(\w+)\s*=(?!=)\s*(.*)", text, re.DOTALL)
        name, call = given.groups() if given else ("", text.strip())
        function, word = _called(call)
        name = name or "_".join([word, *map(str, function.columns)])
        if name in found:
            rule = f"two functions have the same result name {name!r}"
            raise WindrowError(rule, repr(text), "name them, for example low=min(price).")
        found[name] = function
    return found


def _called(text: str) -> tuple[Aggregate[Any, Any, Any], str]:
    """The function that a call makes, and the function's name."""
    try:
        call = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        if re.fullmatch(r"\w+\(\s*\*\s*\)", text):
            raise _refused(text, "count() counts all rows.") from None
        raise _refused(text, "Names with other characters go in quotes: sum('seq no').") from None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise _refused(text)
    word = call.func.id
    if word not in functions.__all__:
        rule = f"the function is not known: {word!r}"
        raise WindrowError(rule, hint=function_meant(word, functions.__all__))
    values = [_value(node, text) for node in call.args]
    options: dict[str, Any] = {}
    for keyword in call.keywords:
        if keyword.arg is None:
            raise _refused(text)
        options[keyword.arg] = _value(keyword.value, text)
    return getattr(functions, word)(*values, **options), word


def _value(node: ast.expr, text: str) -> Any:
    """A bare name is a column; everything else is a literal of Python."""
    if isinstance(node, ast.Name):
        return node.id
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise _refused(text) from None


def _refused(text: str, more: str = "") -> WindrowError:
    hint = f"{_HINT} {more}".strip()
    return WindrowError("a function is written as a call with columns", repr(text), hint)
