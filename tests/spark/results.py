"""Results of a query on Spark, as the oracle writes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql import DataFrame, Row

from windrow.core import oracle

ByWindow = dict[tuple[Any, ...], list[list[Any]]]
"""The result rows of each (key, id, start, end)."""


def by_window(df: DataFrame, keys: Iterable[str] = ()) -> ByWindow:
    """The collected rows of each window, bounds in microseconds where they are times."""
    keys = list(keys)
    found: ByWindow = {}
    names = [c for c in df.columns if c not in (*keys, "window_id", "window_start", "window_end")]
    for row in df.collect():
        key = tuple(plain(row[k]) for k in keys)
        bounds = (_bound(row["window_start"]), _bound(row["window_end"]))
        values = [plain(row[name]) for name in names]
        found.setdefault((key, row["window_id"], *bounds), []).append(values)
    return found


def expected(
    windows: Iterable[oracle.OracleWindow], function: Callable[[oracle.OracleWindow], list[Any]]
) -> ByWindow:
    """What the oracle's windows give; ``function`` returns the rows of one."""
    computed = {
        (tuple(map(plain, w.key)), w.id, _bound(w.start), _bound(w.end)): function(w)
        for w in windows
    }
    return {window: rows for window, rows in computed.items() if rows}


def aggregates(functions: Mapping[str, Any]) -> Callable[[oracle.OracleWindow], list[Any]]:
    """The oracle's results of an ``agg`` of these functions."""

    def rows(w: oracle.OracleWindow) -> list[Any]:
        return [[plain(oracle.aggregate(f, w.rows)) for f in functions.values()]]

    return rows


def assert_same(got: ByWindow, wanted: ByWindow, what: object = "") -> None:
    """Integers and text exactly, floats to 1e-9; ``what`` is said where they differ."""
    assert wanted, f"nothing to compare: {what}"
    missing, extra = wanted.keys() - got.keys(), got.keys() - wanted.keys()
    some = [sorted(w, key=repr)[:3] for w in (missing, extra)]
    assert not (missing or extra), (
        f"{what}: {len(missing)} of {len(wanted)} windows missing, such as {some[0]}; "
        f"{len(extra)} too many, such as {some[1]}"
    )
    for window, rows in wanted.items():
        assert _is_close(got[window], rows), f"{what}: {window}: {got[window]} is not {rows}"


def run_all(runs: Iterable[Callable[[], None]]) -> None:
    """Run them two at a time, as most jobs leave a core idle, and say of every one that fails."""
    with ThreadPoolExecutor(2) as pool:
        found = [f.exception() for f in [pool.submit(r) for r in runs]]
    failures = [e for e in found if isinstance(e, Exception)]
    if failures:
        raise ExceptionGroup(f"{len(failures)} of {len(found)} fail", failures)


def plain(value: Any) -> Any:
    """A value as both sides can be compared: NaN equals NaN, a struct is a dict."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    if isinstance(value, bytearray):
        return bytes(value)
    if isinstance(value, Row):
        value = value.asDict()
    if isinstance(value, dict):
        return tuple((name, plain(v)) for name, v in value.items())
    return [plain(v) for v in value] if isinstance(value, list) else value


def _bound(value: Any) -> Any:
    if not isinstance(value, datetime):
        return value
    zone = None if value.tzinfo is None else UTC
    return (value - datetime(1970, 1, 1, tzinfo=zone)) // timedelta(microseconds=1)


def _is_close(got: Any, wanted: Any) -> bool:
    if isinstance(wanted, list | tuple):
        return len(got) == len(wanted) and all(map(_is_close, got, wanted))
    if isinstance(wanted, float) and isinstance(got, float):
        return math.isclose(got, wanted, rel_tol=1e-9, abs_tol=1e-9)
    return bool(got == wanted)
