"""The constants of this machine: measured by ``windrow calibrate``, else those that ship."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import cache
from pathlib import Path

from windrow.core.checks import number
from windrow.core.errors import WindrowError, received
from windrow.planner.constants import IN_PROCESS, ON_SPARK, Constants

PATH = "WINDROW_CONSTANTS"
"""The environment variable that names the file; by default it is in the user's folder."""
VERSION = 1
"""The version of the file. It counts up if a constant changes its meaning."""
_NAMES = frozenset(f.name for f in fields(Constants))


def path_here() -> Path:
    """Where the constants of this machine are kept, one file per machine."""
    if given := os.environ.get(PATH):
        return Path(given)
    folder = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(folder) / "windrow" / f"constants-{platform.node() or 'here'}.json"


def on_spark() -> Constants:
    """What steps cost on Spark."""
    return _stored(path_here(), "on_spark", ON_SPARK)


def in_process() -> Constants:
    """What steps cost in this process, where workers share the rows."""
    return _stored(path_here(), "in_process", IN_PROCESS)


def store(on_spark: Mapping[str, float], in_process: Mapping[str, float]) -> Path:
    """Keep what was measured for the next queries; what was not measured stays as it ships."""
    path = path_here()
    found = {"version": VERSION, "on_spark": dict(on_spark), "in_process": dict(in_process)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found, indent=2) + "\n")
    _read.cache_clear()
    return path


def _stored(path: Path, place: str, shipped: Constants) -> Constants:
    try:
        changed = path.stat().st_mtime_ns
    except OSError:
        return shipped
    return replace(shipped, **_read(path, changed).get(place, {}))


@cache
def _read(path: Path, changed: int) -> dict[str, dict[str, float]]:
    """The constants in a file; an older version is passed over, anything else refused."""
    hint = f"run windrow calibrate again, or delete {path}."
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError) as e:
        raise WindrowError("the constants of this machine cannot be read", str(e), hint) from e
    if not isinstance(found, dict) or found.get("version") != VERSION:
        return {}
    places = {place: found.get(place, {}) for place in ("on_spark", "in_process")}
    for place, values in places.items():
        for name, value in values.items() if isinstance(values, dict) else [(place, values)]:
            known = number(value)
            if name not in _NAMES or known is None or not 0 <= known < float("inf"):
                rule = "the constants of this machine must be known names with times"
                raise WindrowError(rule, received(name, value), hint)
    return places
