"""A query described as data: everything that must not change while its state is in use."""

from __future__ import annotations

import json
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter, signature
from typing import Any

import numpy as np

from windrow.core.aggregate import Aggregate
from windrow.core.computation import Aggregation, Apply, Computation, Decompose, Fold
from windrow.core.models import Axis, Context, mapped
from windrow.engine.evaluate.partials import PartialColumns
from windrow.engine.state.mismatch import IN_REDUCE
from windrow.engine.window_query import WindowQuery
from windrow.engine.windows.farm_panes import FarmPanes


def describe(query: WindowQuery, pattern: object) -> dict[str, Any]:
    """Describe the windows, the keys, the order, the computation and the pattern.

    Settings that may change between two runs are left out: ``open_windows``, the delay and how long
    the idle timeout is. That there is one may not change: it adds a source to a stream.
    """
    return {
        "window": {
            "model": type(query.model).__name__,
            **_parameters(query.model),
            "columns": _columns(query, query.model.columns),
        },
        "keys": _columns(query, query.keys),
        "event_time": _event_time(query),
        "idle_timeout": None if query.idle_timeout is None else "set",
        "order_by": _columns(query, query.order_by),
        **({} if query.rank is None else {"rank_by": _columns(query, [query.rank])}),
        "computation": _computation(query, query.computation),
        "pattern": (described := _pattern(pattern)),
        **_partials(query, described),
        **_panes(query, described),
        **_rankers(query, described),
        "defaults": {"window": _defaults(query.model), "pattern": _defaults_of(pattern)},
    }


def _rankers(query: WindowQuery, pattern: dict[str, Any]) -> dict[str, Any]:
    """How many rankers share the keys, if there are several."""
    farm = pattern.get("hot", pattern)
    is_farm = farm["pattern"] == "WinFarm" and farm["workers"] == "active"
    n = farm["n"] if is_farm else farm.get("plq", 1)
    if farm.get("workers") == "agnostic":
        n = 1
    are_paned = farm.get("inner", farm)["pattern"] == "PaneFarm"
    is_ranked = query.model.axis is Axis.RANK and (query.rank is None or are_paned)
    is_shared = is_ranked and bool(query.keys) and n > 1
    return {"rankers": n} if is_shared else {}


def _panes(query: WindowQuery, pattern: dict[str, Any]) -> dict[str, Any]:
    """The length of the panes in a window farm, if it is not gcd(length, slide)."""
    if pattern["pattern"] != "WinFarm" or pattern["inner"]["pattern"] != "PaneFarm":
        return {}
    panes = FarmPanes.of(mapped(query.model), pattern["n"], pattern["batch"])
    return {"panes": panes.length} if panes.span > 1 else {}


def _partials(query: WindowQuery, pattern: dict[str, Any]) -> dict[str, Any]:
    """The forms of the partials that decide what is stored, and where.

    A pane farm stores partials. Where partials are all rows, it is REDUCE that holds these; but
    batches of windows that a windower has decided are held nowhere.
    """
    pattern = pattern.get("hot", pattern)
    inner = pattern.get("inner", pattern)
    is_farmed = inner["pattern"] == "PaneFarm"
    is_told_by_time = query.model.context is Context.CF and query.model.axis is Axis.TIME
    is_reduced = inner["pattern"] == "WinMapReduce" and is_told_by_time
    is_reduced &= pattern.get("workers") != "agnostic"
    if not isinstance(query.computation, Aggregation) or not (is_farmed or is_reduced):
        return {}
    partials = PartialColumns(query)
    if is_reduced:
        has_all = partials.rows is not None and not partials.rows.are_few
        return {"partials": IN_REDUCE} if has_all else {}
    forms = {name: partials.form_of(f) for name, f in partials.functions.items()}
    stored = {name: form for name, form in forms.items() if form in ("rows", "numbers")}
    return {"partials": stored} if stored else {}


def _event_time(query: WindowQuery) -> dict[str, str] | None:
    if query.time is None:
        return None
    return {**_columns(query, [query.time])[0], "unit": query.unit}


def _columns(query: WindowQuery, names: Any) -> list[dict[str, str]]:
    return [{"column": name, "type": query.types[name]} for name in names]


def _computation(query: WindowQuery, computation: Computation) -> dict[str, Any]:
    if isinstance(computation, Aggregation):
        functions = {n: _aggregate(query, f) for n, f in computation.functions.items()}
        return {"kind": "agg", "functions": functions}
    # Other functions see all columns of the tuples, so all columns are part of the state.
    seen = {"columns": _columns(query, query.types)}
    if isinstance(computation, Apply):
        return {
            "kind": "apply",
            "function": _name(computation.function),
            "returns": computation.returns,
            **seen,
        }
    if isinstance(computation, Fold):
        return {
            "kind": "fold",
            "update": _name(computation.update),
            "init": json.dumps(_data(computation.init)),
            "returns": computation.returns,
            **seen,
        }
    assert isinstance(computation, Decompose)
    rounds = [
        {
            "partial": _name(r.partial),
            "combine": _name(r.combine),
            "partial_returns": r.partial_returns,
        }
        for r in computation.rounds
    ]
    return {"kind": "decompose", "rounds": rounds, "returns": computation.returns, **seen}


def _aggregate(query: WindowQuery, function: Aggregate[Any, Any, Any]) -> dict[str, Any]:
    """A function's class, input columns and parameters."""
    own = function.identity()
    return {
        "function": own["class"],
        "columns": _columns(query, function.columns),
        "parameters": own["parameters"],
    }


def _pattern(pattern: object) -> dict[str, Any]:
    parameters = _parameters(pattern)
    if hasattr(pattern, "inner"):
        parameters["inner"] = _pattern(pattern.inner)
    # A farm without hot keys is described as it was before there were any.
    keys, hot = parameters.pop("hot_keys", None), getattr(pattern, "hot", None)
    parameters.pop("hot", None)
    if hot is not None:
        parameters |= {"hot_keys": sorted(keys, key=repr), "hot": _pattern(hot)}
    return {"pattern": type(pattern).__name__, **parameters}


def _defaults_of(pattern: object) -> dict[str, Any]:
    inner = {"inner": _defaults_of(pattern.inner)} if hasattr(pattern, "inner") else {}
    return {**_defaults(pattern), **inner}


def _defaults(spec: Any) -> dict[str, Any]:
    """The parameters with a default: what a description that does not name them stands for."""
    given = signature(type(spec)).parameters.items()
    found = {name: p.default for name, p in given if p.default is not Parameter.empty}
    for field in fields(spec) if is_dataclass(spec) else ():
        if field.default is not MISSING:
            found[field.name] = field.default
        elif field.default_factory is not MISSING:
            found[field.name] = field.default_factory()
    return {name: _data(found[name]) for name in _parameters(spec) if name in found}


def _parameters(spec: Any) -> dict[str, Any]:
    """The fields of a dataclass, or the public attributes of any other object, as data."""
    names = [f.name for f in fields(spec)] if is_dataclass(spec) else vars(spec)
    return {n: _data(getattr(spec, n)) for n in names if not n.startswith("_")}


def _data(value: Any) -> Any:
    """Convert a parameter to JSON data. Other objects are represented by their repr or name."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {str(k): _data(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_data(v) for v in value]
    words = repr(value)
    # A repr with an address would differ in every process.
    return _name(value) if callable(value) or " at 0x" in words else words


def _name(function: Any) -> str:
    return getattr(function, "__qualname__", type(function).__qualname__)
