"""The types in which columns are held, and what follows for queries over tables."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.engine.columns.held import as_held
from windrow.patterns import Pattern

EARLIER, LATER = 1_730_611_800_000_000, 1_730_615_400_000_000
"""Half past one in New York on 3 November 2024, before and after the clocks are put back."""
NEW_YORK = pa.timestamp("us", "America/New_York")
INSTANTS = pa.array([EARLIER, LATER, EARLIER, LATER, EARLIER], NEW_YORK)
PATTERNS = [
    wr.WinSeq(),
    wr.WinFarm(2),
    wr.WinFarm(2, workers="agnostic"),
    wr.PaneFarm(2, 2),
    wr.WinMapReduce(2, 2),
]


def test_nested_instants_are_held_in_utc() -> None:
    nested = pa.struct([("at", NEW_YORK), ("all", pa.map_(pa.string(), pa.list_(NEW_YORK)))])
    table = pa.table({"a": pa.array([], nested), "b": pa.array([], pa.timestamp("s"))})
    held = as_held(table)
    assert "New_York" not in str(held.schema)
    assert held["b"].type == pa.timestamp("s")
    assert as_held(held) is held


def test_instants_are_not_copied() -> None:
    held = as_held(pa.table({"at": INSTANTS}))
    assert held["at"].chunk(0).buffers()[1].address == INSTANTS.buffers()[1].address


@pytest.mark.parametrize("pattern", [*PATTERNS, wr.KeyFarm(2)], ids=repr)
@pytest.mark.parametrize("is_nested", [False, True])
def test_instants_of_the_repeated_hour_are_two_keys(pattern: Pattern, is_nested: bool) -> None:
    keys: Any = INSTANTS
    if is_nested:
        keys = pa.StructArray.from_arrays([INSTANTS], ["at"])
    table = pa.table({"k": keys, "x": range(5)})
    query = wr.stream(table).key_by("k").window(wr.CountWindow(4)).agg(n=wf.count(), x=wf.sum("x"))
    result = query.using(pattern).ordered().collect()
    assert result["k"].type == keys.type
    assert result["n"].to_pylist() == [3, 2]
    assert result["x"].to_pylist() == [6, 4]


@pytest.mark.parametrize("pattern", PATTERNS, ids=repr)
def test_instants_of_the_repeated_hour_are_two_values(pattern: Pattern) -> None:
    table = pa.table({"k": ["a"] * 5, "at": INSTANTS, "x": range(5)})
    functions = {
        "distinct": wf.count_distinct("at"),
        "least": wf.min("at"),
        "most": wf.max("at"),
        "mode": wf.mode("at"),
        "arg": wf.arg_max("x", by="at"),
        "top": wf.top_k("at", 2),
    }
    windows = wr.stream(table).key_by("k").order_by("at").window(wr.CountWindow(8))
    query = windows.agg(**functions)
    result = query.using(pattern).collect()
    found = [result[c].cast(pa.int64())[0].as_py() for c in ("distinct", "least", "most", "mode")]
    assert found == [2, EARLIER, LATER, EARLIER]
    assert result["arg"].to_pylist() == [1]
    assert result["top"].combine_chunks().values.cast(pa.int64()).to_pylist() == [LATER, LATER]


def test_joins_return_instants_as_they_came() -> None:
    table = pa.table({"at": INSTANTS})
    joined = wr.join(table, table, within=9, on=wr.equi("at"), how="outer").collect()
    assert joined["left_at"].type == joined["right_at"].type == NEW_YORK
    assert len(joined) == 3 * 3 + 2 * 2


@pytest.mark.parametrize(
    "keys",
    [
        pa.array(["a", "b", "a"], pa.string_view()),
        pa.array([b"a", b"b", b"a"], pa.binary_view()),
        pa.array(INSTANTS[:3]).dictionary_encode(),
        pa.array(["a", "b", "a"]).dictionary_encode(),
        pa.array([1, 2, 1], pa.timestamp("ns")),
        pa.array([1, 2, 1], pa.duration("s")),
        pa.array([1, 2, 1], pa.time64("ns")),
        pa.array([b"a", b"b", b"a"], pa.binary(1)),
        pa.array([1, 2, 1], pa.uint64()),
    ],
    ids=lambda keys: str(keys.type),
)
@pytest.mark.parametrize("pattern", [*PATTERNS, wr.KeyFarm(2)], ids=repr)
def test_keys_of_every_arrow_type(keys: pa.Array, pattern: Pattern) -> None:
    table = pa.table({"k": keys, "x": range(3)})
    query = wr.stream(table).key_by("k").window(wr.CountWindow(4)).agg(n=wf.count())
    result = query.using(pattern).ordered().collect()
    assert result["n"].to_pylist() == [2, 1]
    assert result["k"].to_pylist() == keys.to_pylist()[:2]


def test_column_of_nulls_is_one_key() -> None:
    table = pa.table({"k": pa.nulls(3), "s": pa.array([{"a": None}] * 3)})
    query = wr.stream(table).key_by("k", "s").window(wr.CountWindow(4)).agg(n=wf.count())
    for pattern in PATTERNS:
        assert query.using(pattern).ordered().collect()["n"].to_pylist() == [3]
