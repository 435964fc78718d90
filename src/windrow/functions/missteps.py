"""Functions by the names that they have elsewhere."""

from __future__ import annotations

from collections.abc import Iterable

from windrow.core.errors import UnknownName, nearest

_NAMES_OF_OTHERS = {
    "avg": "mean", "average": "mean", "std": "stddev", "stddev_samp": "stddev", "variance": "var",
    "var_samp": "var", "percentile": "quantile", "percentile_approx": "quantile",
    "approx_percentile": "quantile", "nunique": "count_distinct", "n_unique": "count_distinct",
    "countDistinct": "count_distinct", "approx_count_distinct": "count_distinct",
    "argmax": "arg_max", "max_by": "arg_max", "argmin": "arg_min", "min_by": "arg_min",
    "collect_list": "collect", "array_agg": "collect", "size": "count", "len": "count",
    "any_value": "first", "linregress": "linear_regression", "polyfit": "polynomial_fit",
}  # fmt: skip


def unknown_function(name: str, known: Iterable[str]) -> AttributeError:
    """The error for a function that there is not.

    >>> print(unknown_function("avg", ["mean"]))
    windrow.functions has no 'avg'.
    Hint: did you mean mean?
    """
    if name.startswith("_"):
        return AttributeError(name)
    return UnknownName(f"windrow.functions has no {name!r}", hint=function_meant(name, known))


def function_meant(name: str, known: Iterable[str]) -> str:
    """The hint for an unknown name: the function that is meant, or else all of them."""
    near = nearest(name, known, _NAMES_OF_OTHERS)
    return f"did you mean {near}?" if near else f"the functions are {', '.join(known)}."
