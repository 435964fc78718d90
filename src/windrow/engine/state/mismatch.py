"""The error for a checkpoint of another query. It lists the differences and how to go on."""

from __future__ import annotations

import json
from fnmatch import fnmatchcase
from hashlib import sha256
from typing import Any

from windrow.core.errors import WindrowError

Description = dict[str, Any]
IN_REDUCE = "rows in REDUCE"
"""What ``partials`` says if the reducers of Win_MapReduce hold rows; otherwise mappers do."""
UNKNOWN = object()
"""The value of a field that older descriptions do not have, if it may have been anything."""

DEFAULTS: dict[str, Any] = {
    "event_time.unit": "us",
    "window.columns*": UNKNOWN,
    "computation.init": UNKNOWN,
    "time_types*": UNKNOWN,
    "idle_timeout": UNKNOWN,
    "partials": "rows in MAP",
    "partials.*": "pickled",
    "panes": "gcd(length, slide)",
    "rankers": 1,
}
"""The values of fields that older descriptions do not have, by path; ``*`` matches any name.

A field that is missing in a description has this value, or else null. So a field can be added
without making older checkpoints unreadable. A field that is UNKNOWN equals any value. Fields of
window models and patterns have the defaults of their classes, which descriptions name themselves.
"""
_DERIVED = ("partials", "panes", "rankers", "stored_together")
"""Fields that follow from the query, the pattern with its levels, and the version of Windrow."""
_DEGREES = ("n", "plq", "wlq", "map", "reduce")


def refuse_mismatch(was: Description, now: Description, older: str | None = None) -> None:
    """Raise an error that names every field in which two descriptions differ.

    ``older`` says which older format the first one has and who wrote it, if that is so.
    """
    said = _differences(was, now)
    if not said:
        return
    if older is not None and all(line.startswith(_DERIVED) for line in said):
        raise WindrowError(
            "the checkpoint holds this query's state in the layout of an older version of Windrow",
            "\n  ".join([f"{older}, and these differences:", *said]),
            "continue with the version that wrote it, or start with a new checkpoint location.",
        )
    needed = "restore the query and its pattern"
    if all(line.startswith(_DERIVED) for line in said):
        needed = "continue it with the level, and the version of Windrow, that wrote it"
    elif all(line.startswith("pattern.") for line in said):
        needed = (
            f"use the pattern that wrote this checkpoint: .using({pattern_call(was['pattern'])})"
        )
    raise WindrowError(
        "the checkpoint holds the state of another query or of another parallelism",
        "\n  ".join(["these differences:", *said]),
        f"start with a new checkpoint location, or {needed}.",
    )


def digest(description: Description) -> int:
    """A number that two descriptions share if they do not differ.

    Fields that have their default value, or whose value may be unknown, are left out. So a field
    that a later version adds does not change the number.
    """
    own = _fields(description.get("defaults", {}))
    fields = _fields({n: part for n, part in description.items() if n != "defaults"})
    told = {path: _value(fields, path, own) for path in fields}
    kept = {p: v for p, v in told.items() if (default := _value({}, p, own)) and v != default}
    return int.from_bytes(sha256(json.dumps(kept, sort_keys=True).encode()).digest())


def _differences(was: Description, now: Description) -> list[str]:
    """A line per field that differs."""
    if _kind(was) != _kind(now):
        return [f"query: was {_kind(was)}, is {_kind(now)}"]
    holders = {description.get("partials") == IN_REDUCE for description in (was, now)}
    stateless = {"level", *("map" if is_reduce else "reduce" for is_reduce in holders)}
    before, after = (_fields(_with_state_only(d, stateless)) for d in (was, now))
    own = {p: v for d in (was, now) for p, v in _fields(d.get("defaults", {})).items()}
    values = {
        p: (_value(before, p, own), _value(after, p, own)) for p in dict.fromkeys(before | after)
    }
    said = [f"{p}: was {b}, is {a}" for p, (b, a) in values.items() if b != a and a and b]
    # Derived fields are of interest only if the query and its pattern are equal.
    return [line for line in said if not line.startswith(_DERIVED)] or said


def _kind(description: Description) -> str:
    return "a join" if "within" in description else "a query over windows"


def _fields(value: Any, path: str = "") -> dict[str, Any]:
    """Flatten a description to values by path: ``window.length``, ``keys[0].type``.

    A parameter of a function or a term may be an empty list, which is not the same as none. A
    parameter of a window model has a default as a whole.
    """
    is_parameter = ".parameters." in path or path.startswith("on[")
    if path.startswith("window.") and not path.startswith("window.columns"):
        return {path: value}
    if isinstance(value, dict) and (value or not is_parameter):
        parts = [(f"{path}.{name}".lstrip("."), part) for name, part in value.items()]
    elif isinstance(value, list) and (value or not is_parameter):
        parts = [(f"{path}[{i}]", part) for i, part in enumerate(value)]
    else:
        return {path: value}
    return {p: v for own, part in parts for p, v in _fields(part, own).items()}


def _value(fields: dict[str, Any], path: str, own: dict[str, Any]) -> str | None:
    """The text of a field's value, or of its default if the field is missing; None if unknown.

    ``own`` are the defaults that the descriptions name.
    """
    if path in fields and ".parameters." in path:
        return json.dumps(fields[path])
    default = next((v for known, v in DEFAULTS.items() if fnmatchcase(path, known)), own.get(path))
    value = fields.get(path, default)
    if value is UNKNOWN:
        return None
    return "not set" if value is None else json.dumps(value)


def _with_state_only(description: Description, stateless: set[str]) -> Description:
    """The description without defaults, with only the part of the pattern that partitions state."""
    description = {name: part for name, part in description.items() if name != "defaults"}
    if "pattern" not in description:
        return description
    return {**description, "pattern": _partitioning(description["pattern"], stateless)}


def _partitioning(pattern: Description, stateless: set[str]) -> Description:
    """The part of a pattern that decides which worker holds which state.

    The level only decides which nodes run in one task, and either mappers or reducers hold state.
    In an agnostic farm, the windower holds all state unless the inner pattern is a pane farm. So
    which keys are hot may change if agnostic workers compute their windows as a whole.
    """
    kept = {name: v for name, v in pattern.items() if name not in stateless}
    if pattern["pattern"] == "PaneFarm" and pattern.get("workers") == "agnostic":
        # A windower holds the tuples, and workers without state compute the panes.
        kept.pop("plq")
    hot, inner = pattern.get("hot"), pattern.get("inner")
    if hot is not None:
        kept["hot"], hot_keys = _partitioning(hot, stateless), kept.pop("hot_keys")
        if hot.get("workers") != "agnostic" or hot["inner"]["pattern"] != "WinSeq":
            kept["hot"]["hot_keys"] = hot_keys
    if inner is None:
        return kept
    if pattern.get("workers") == "agnostic" and inner["pattern"] != "PaneFarm":
        return {"pattern": pattern["pattern"], "workers": "agnostic"}
    return {**kept, "inner": _partitioning(inner, stateless)}


def pattern_call(pattern: Description) -> str:
    """The Python expression that creates a pattern."""
    arguments = [str(pattern[degree]) for degree in _DEGREES if degree in pattern]
    inner = pattern.get("inner", {"pattern": "WinSeq"})
    if inner["pattern"] != "WinSeq":
        arguments.append(pattern_call(inner))
    if "hot_keys" in pattern:
        arguments.append(f"hot_keys={pattern['hot_keys']!r}, hot={pattern_call(pattern['hot'])}")
    for name, default in (("workers", "active"), ("batch", 1), ("level", 2)):
        if pattern.get(name, default) != default:
            arguments.append(f"{name}={json.dumps(pattern[name])}")
    return f"wr.{pattern['pattern']}({', '.join(arguments)})"
