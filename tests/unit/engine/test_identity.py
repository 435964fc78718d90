"""What a checkpoint says of its query, and what it says of another."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.engine.state import mismatch
from windrow.engine.state.identity import describe
from windrow.engine.state.mismatch import digest, refuse_mismatch
from windrow.patterns import Pattern

SCHEMA = pa.schema([("k", pa.string()), ("t", pa.int64()), ("x", pa.int64()), ("y", pa.float64())])


def middle(window: wr.Window) -> dict[str, Any]:
    return {"middle": sorted(window["x"])[len(window) // 2]}


def first(window: wr.Window) -> dict[str, Any]:
    return {"x": int(window["x"][0])}


def best(parts: list[Any]) -> dict[str, Any]:
    return {"x": max(part["x"] for part in parts)}


def add(total: int, row: Any) -> int:
    return total + int(row["x"])


def source() -> wr.Query:
    query = wr.stream(SCHEMA.empty_table()).key_by("k").event_time("t").order_by("x")
    return query.window(wr.CountWindow(8, 2))


def summed() -> wr.Query:
    return source().agg(n=wf.count(), p95=wf.quantile("y", 0.95))


def described(query: wr.Query, pattern: Pattern | None = None) -> dict[str, Any]:
    """As a header gives it back."""
    found: dict[str, Any] = json.loads(
        json.dumps(describe(query.window_query(), pattern or wr.KeyFarm(2)))
    )
    return found


def refused(was: dict[str, Any], now: dict[str, Any]) -> wr.WindrowError:
    with pytest.raises(wr.WindrowError) as raised:
        refuse_mismatch(was, now)
    rule = "the checkpoint holds the state of another query or of another parallelism"
    assert raised.value.rule == rule
    assert raised.value.hint is not None
    assert raised.value.hint.startswith("start with a new checkpoint location, or ")
    return raised.value


def differences(was: dict[str, Any], now: dict[str, Any]) -> list[str]:
    first, *said = (refused(was, now).got or "").split("\n  ")
    assert first == "these differences:"
    return said


def test_a_query_is_described_as_data() -> None:
    assert described(summed(), wr.WinFarm(3, wr.PaneFarm(2, 1), batch=4)) == {
        "window": {"model": "CountWindow", "length": 8, "slide": 2, "columns": []},
        "keys": [{"column": "k", "type": "string"}],
        "event_time": {"column": "t", "type": "bigint", "unit": "us"},
        "idle_timeout": None,
        "order_by": [{"column": "x", "type": "bigint"}],
        "computation": {
            "kind": "agg",
            "functions": {
                "n": {"function": "Count", "columns": [], "parameters": {}},
                "p95": {
                    "function": "Quantile",
                    "columns": [{"column": "y", "type": "double"}],
                    "parameters": {"q": 0.95},
                },
            },
        },
        "pattern": {
            "pattern": "WinFarm",
            "n": 3,
            "inner": {
                "pattern": "PaneFarm",
                "plq": 2,
                "wlq": 1,
                "workers": "active",
                "level": 2,
            },
            "workers": "active",
            "batch": 4,
            "level": 2,
        },
        "partials": {"p95": "rows"},
        "rankers": 3,
        "defaults": {
            "window": {"slide": None},
            "pattern": {
                "workers": "active",
                "batch": 1,
                "level": 2,
                "inner": {"workers": "active", "level": 2},
            },
        },
    }


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            source().apply(middle, "middle bigint"),
            {"kind": "apply", "function": "middle", "returns": "middle bigint"},
        ),
        (
            source().fold(add, 0, returns="total bigint"),
            {"kind": "fold", "update": "add", "init": "0", "returns": "total bigint"},
        ),
        (
            source().decompose(
                partial=first, combine=best, partial_returns="x bigint", returns="x bigint"
            ),
            {
                "kind": "decompose",
                "rounds": [{"partial": "first", "combine": "best", "partial_returns": "x bigint"}],
                "returns": "x bigint",
            },
        ),
    ],
    ids=["apply", "fold", "decompose"],
)
def test_a_function_of_a_users_own_is_described_by_its_name_and_all_columns(
    query: wr.Query, expected: dict[str, Any]
) -> None:
    types = {"k": "string", "t": "bigint", "x": "bigint", "y": "double"}
    columns = [{"column": name, "type": kind} for name, kind in types.items()]
    assert described(query)["computation"] == {**expected, "columns": columns}


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (summed().window(wr.CountWindow(5, 2)), ["window.length: was 8, is 5"]),
        (summed().window(wr.DeltaWindow("x", 8, 2.0)), None),
        (summed().key_by("k", "x"), None),
        (summed().key_by("x"), ['keys[0].column: was "k", is "x"', None]),
        (
            source().agg(n=wf.count(), p95=wf.quantile("y", 0.9)),
            ["computation.functions.p95.parameters.q: was 0.95, is 0.9"],
        ),
        (
            source().agg(n=wf.count(), p95=wf.quantile("y", 0.95), most=wf.max("x")),
            [
                'computation.functions.most.function: was not set, is "Max"',
                'computation.functions.most.columns[0].column: was not set, is "x"',
                'computation.functions.most.columns[0].type: was not set, is "bigint"',
            ],
        ),
    ],
    ids=["length", "model", "one more key", "another key", "parameter", "function"],
)
def test_a_mismatch_names_every_field_with_what_it_was_and_is(
    other: wr.Query, expected: list[str | None] | None
) -> None:
    said = differences(described(summed()), described(other))
    if expected is None:
        assert said
    else:
        assert len(said) == len(expected)
        assert all(e is None or e == s for e, s in zip(expected, said, strict=True))


def test_whole_and_fractional_lengths_of_an_attribute_differ() -> None:
    whole, fractional = wr.DeltaWindow("x", 5, 1), wr.DeltaWindow("x", 5.0, 1)
    said = differences(described(summed().window(whole)), described(summed().window(fractional)))
    assert said == ["window.length: was 5, is 5.0"]


def test_another_stage_is_told() -> None:
    query = described(summed())
    assert differences({**query, "stage": 0}, {**query, "stage": 1}) == ["stage: was 0, is 1"]


PATTERNS: list[tuple[Pattern, str]] = [
    (wr.WinSeq(), "wr.WinSeq()"),
    (wr.KeyFarm(2), "wr.KeyFarm(2)"),
    (wr.KeyFarm(2, wr.PaneFarm(2, 3, level=1)), "wr.KeyFarm(2, wr.PaneFarm(2, 3, level=1))"),
    (wr.WinFarm(3, batch=4, level=0), "wr.WinFarm(3, batch=4, level=0)"),
    (wr.WinFarm(3, workers="agnostic"), 'wr.WinFarm(3, workers="agnostic")'),
    (wr.WinMapReduce(2, 4), "wr.WinMapReduce(2, 4)"),
]


@pytest.mark.parametrize(("pattern", "call"), PATTERNS)
def test_the_hint_says_which_pattern_the_checkpoint_needs(pattern: Pattern, call: str) -> None:
    assert eval(call) == pattern
    error = refused(described(summed(), pattern), described(summed(), wr.KeyFarm(5)))
    assert error.hint is not None
    assert error.hint.endswith(f".using({call}).")


def test_the_hint_names_no_pattern_where_more_than_that_differs() -> None:
    other = described(summed().window(wr.CountWindow(5)), wr.KeyFarm(3))
    assert ".using" not in str(refused(described(summed()), other))


SAME: list[tuple[Pattern, Pattern]] = [
    (wr.KeyFarm(2), wr.KeyFarm(2, level=2)),
    (wr.KeyFarm(2, wr.PaneFarm(2, 2)), wr.KeyFarm(2, wr.PaneFarm(2, 2, level=1), level=1)),
    (wr.WinMapReduce(2, 1), wr.WinMapReduce(2, 3)),
    (wr.WinFarm(2, workers="agnostic"), wr.WinFarm(7, workers="agnostic", batch=3)),
    (
        wr.WinFarm(2, wr.WinMapReduce(2, 1), workers="agnostic"),
        wr.WinFarm(3, wr.WinMapReduce(4, 2), workers="agnostic"),
    ),
]


@pytest.mark.parametrize(("one", "other"), SAME, ids=str)
def test_what_holds_no_state_may_change(one: Pattern, other: Pattern) -> None:
    refuse_mismatch(described(summed(), one), described(summed(), other))


def test_partials_that_older_versions_pickled_are_refused() -> None:
    now = described(summed(), wr.PaneFarm(2, 1))
    older = {name: part for name, part in now.items() if name != "partials"}
    assert differences(older, now) == ['partials.p95: was "pickled", is "rows"']
    other = described(summed(), wr.KeyFarm(2))
    assert all(line.startswith("pattern.") for line in differences(other, now))


def test_reducers_hold_state_if_partials_are_all_rows() -> None:
    query = summed().window(wr.TimeWindow(8, 2))
    now = described(query, wr.WinMapReduce(2, 1))
    refuse_mismatch(now, described(query, wr.WinMapReduce(3, 1)))
    assert differences(now, described(query, wr.WinMapReduce(2, 3))) == [
        "pattern.reduce: was 1, is 3"
    ]
    older = {name: part for name, part in now.items() if name != "partials"}
    assert differences(older, now) == ['partials: was "rows in MAP", is "rows in REDUCE"']


def test_what_is_not_state_may_change() -> None:
    once = summed().event_time("t", idle_timeout="1 second")
    late = source().event_time("t", delay="3 seconds", idle_timeout="1 minute")
    late = late.window(wr.CountWindow(8, 2), open_windows="drop")
    again = late.agg(n=wf.count(), p95=wf.quantile("y", 0.95))
    refuse_mismatch(described(once), described(again))


def test_an_idle_timeout_is_not_added_or_removed_because_it_adds_a_source() -> None:
    without_one, with_one = summed(), summed().event_time("t", idle_timeout="1 minute")
    said = differences(described(without_one), described(with_one))
    assert said == ['idle_timeout: was not set, is "set"']
    assert differences(described(with_one), described(without_one))


def without(description: dict[str, Any], *path: str) -> dict[str, Any]:
    """The description as a version wrote it that did not have the field yet."""
    name, *rest = path
    if not rest:
        return {n: part for n, part in description.items() if n != name}
    return {**description, name: without(description[name], *rest)}


def test_a_field_that_is_missing_counts_as_its_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(mismatch.DEFAULTS, "computation.functions.*.q", 0.95)
    now = described(summed().window(wr.TimeWindow(8)), wr.WinFarm(2))
    for path in (
        ("window", "origin"),
        ("pattern", "workers"),
        ("computation", "functions", "p95", "q"),
    ):
        refuse_mismatch(without(now, *path), now)
        refuse_mismatch(now, without(now, *path))
    moved = described(summed().window(wr.TimeWindow(8, origin=3)), wr.WinFarm(2))
    said = differences(without(now, "window", "origin"), moved)
    assert said == ["window.origin: was 0, is 3"]


def test_a_field_that_is_missing_and_has_no_default_counts_as_null() -> None:
    now = {**described(summed()), "lateness": None}
    refuse_mismatch(without(now, "lateness"), now)


def test_queries_that_differ_have_other_digests() -> None:
    own = digest(described(summed()))
    others = [
        source().agg(n=wf.count(), p95=wf.quantile("y", 0.9)),
        source().agg(n=wf.count(), p95=wf.max("y")),
        source().key_by("x").agg(n=wf.count(), p95=wf.quantile("y", 0.95)),
        source().window(wr.CountWindow(8, 4)).agg(n=wf.count(), p95=wf.quantile("y", 0.95)),
    ]
    assert len({own, *(digest(described(other)) for other in others)}) == 5


def test_a_field_that_a_later_version_adds_with_a_default_changes_no_digest() -> None:
    now = described(summed())
    assert digest(now) == digest({**now, "rankers": 1, "added": None})
    assert digest(now) != digest({**now, "rankers": 2})


def test_hot_keys_are_part_of_the_identity_where_they_partition_state() -> None:
    time = summed().window(wr.TimeWindow(8))

    def split(*keys: Any, **workers: Any) -> dict[str, Any]:
        return described(time, wr.KeyFarm(2, hot_keys=keys, hot=wr.WinFarm(2, **workers)))

    refuse_mismatch(split("a", "b"), split("b", "a"))
    said = differences(split("a"), split("b"))
    assert said == ['pattern.hot.hot_keys[0]: was "a", is "b"']
    assert differences(described(time), split("a"))
    hint = refused(split("a", None), described(time)).hint or ""
    assert "wr.KeyFarm(2, hot_keys=['a', None], hot=wr.WinFarm(2))" in hint
    # The windowers of agnostic workers hold all state, by key.
    refuse_mismatch(split("a", workers="agnostic"), split("b", workers="agnostic"))
    assert differences(split("a"), split("a", workers="agnostic"))


def test_hot_keys_are_part_of_the_identity_if_they_are_split_into_panes_or_parts() -> None:
    pieces = {
        "wr.PaneFarm(2, 1)": wr.PaneFarm(2, 1),
        "wr.WinMapReduce(2, 1)": wr.WinMapReduce(2, 1),
        'wr.WinFarm(2, wr.WinMapReduce(2, 1), workers="agnostic")': wr.WinFarm(
            2, wr.WinMapReduce(2, 1), workers="agnostic"
        ),
    }
    for call, hot in pieces.items():
        of_a, of_b = (described(summed(), wr.KeyFarm(2, hot_keys=[k], hot=hot)) for k in "ab")
        assert differences(of_a, of_b) == ['pattern.hot.hot_keys[0]: was "a", is "b"']
        hint = refused(of_a, described(summed())).hint or ""
        assert f".using(wr.KeyFarm(2, hot_keys=['a'], hot={call}))" in hint
    one, other = (
        described(summed(), wr.KeyFarm(2, hot_keys=["a"], hot=wr.PaneFarm(n, 1))) for n in (2, 3)
    )
    assert one["rankers"] == 2
    assert differences(one, other) == ["pattern.hot.plq: was 2, is 3"]
    median = source().window(wr.TimeWindow(8)).agg(p=wf.median("y"))
    parts = wr.KeyFarm(2, hot_keys=["a"], hot=wr.WinMapReduce(2, 1))
    assert described(median, parts)["partials"] == "rows in REDUCE"


def test_the_rankers_of_hot_keys_are_part_of_the_identity() -> None:
    pattern = wr.KeyFarm(3, hot_keys=["a"], hot=wr.WinFarm(3))
    assert described(summed(), pattern)["rankers"] == 3
    assert "rankers" not in described(summed(), wr.KeyFarm(3, hot_keys=["a"]))


class Opaque:
    """Has no words of its own."""


class Custom(wr.Aggregate[float, float, float]):
    def __init__(self, column: str, step: Any, pair: Any, kind: Any, by: Any, own: Any) -> None:
        super().__init__(column)
        self.step, self.pair, self.kind, self.by, self.own = step, pair, kind, by, own
        self._private = object()

    def lift(self, value: float) -> float:
        return value

    def combine(self, a: float, b: float) -> float:
        return a + b

    def lower(self, partial: float) -> float:
        return partial


def test_any_parameter_of_a_users_own_function_is_told_by_data_or_words() -> None:
    custom = Custom("y", step=np.int64(3), pair=(1, "a"), kind=complex(1, 2), by=abs, own=Opaque())
    found = described(source().agg(z=custom))["computation"]["functions"]["z"]
    assert found == {
        "function": "Custom",
        "columns": [{"column": "y", "type": "double"}],
        "parameters": {"step": 3, "pair": [1, "a"], "kind": "(1+2j)", "by": "abs", "own": "Opaque"},
    }


def test_workers_of_panes_that_are_given_panes_hold_no_state() -> None:
    def panes(plq: int, wlq: int = 1) -> dict[str, Any]:
        return described(summed(), wr.PaneFarm(plq, wlq, workers="agnostic"))

    refuse_mismatch(panes(2), panes(3))
    assert "rankers" not in panes(2)
    assert differences(panes(2), panes(2, 2)) == ["pattern.wlq: was 1, is 2"]
    hint = refused(panes(2), described(summed(), wr.PaneFarm(2, 1))).hint or ""
    assert 'wr.PaneFarm(2, 1, workers="agnostic")' in hint


def test_a_pane_farm_of_a_version_without_agnostic_workers_goes_on() -> None:
    now = described(summed(), wr.PaneFarm(2, 1))
    older = {**now, "pattern": {n: v for n, v in now["pattern"].items() if n != "workers"}}
    older["defaults"] = {**now["defaults"], "pattern": {"level": 2}}
    refuse_mismatch(older, now)
    assert digest(older) == digest(now)
