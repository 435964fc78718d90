"""Everything wrong with a join is said when it is built."""

from __future__ import annotations

import json
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import windrow as wr
from windrow.engine.joins.intake import join_tuples
from windrow.engine.joins.messages import data_of

TABLE = pa.table(
    {
        "symbol": ["a", "b"],
        "ts": np.array([0, 1], "datetime64[us]"),
        "zoned": pa.array([0, 1], pa.timestamp("us", "UTC")),
        "seq": [0, 1],
        "price": [1.0, 2.0],
        "tags": [["x"], ["y"]],
        "point": [{"x": 1}, {"x": 2}],
        "cost": [Decimal("1.5"), Decimal("2.5")],
    }
)


def build(**given: Any) -> wr.Join:
    how: dict[str, Any] = {"within": "1 s", "on": wr.equi("symbol"), "time": "ts", **given}
    return wr.join(how.pop("left", TABLE), how.pop("right", TABLE), **how)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"left": 3}, "the left side of join takes a Spark DataFrame.*got int"),
        ({"right": [1]}, "the right side of join takes a Spark DataFrame.*got list"),
        (
            {"within": "0 s"},
            "within must be a positive duration or number of rows; got within='0",
        ),
        ({"within": (1, 0)}, r"got within=\(1, 0\)"),
        ({"within": -5}, "must be a positive duration or number"),
        ({"within": 1.5}, "join within must be a duration"),
        ({"within": True}, "join within must be a duration"),
        ({"within": ("1 s", 5)}, "must be two durations or two numbers of rows; got within="),
        ({"within": ("1 s",)}, "one length or a pair"),
        ({"within": "50000000 days"}, "less than 30,000 years"),
        ({"on": "symbol"}, "on must be a predicate; got on='symbol'.\nHint: .*wr.equi"),
        ({"on": wr.equi("symbl")}, r"equi: column not found on the left: 'symbl'.\nHint.*'symbol'"),
        ({"on": wr.equi(("symbol", "sym"))}, "equi: column not found on the right: 'sym'"),
        ({"on": wr.equi(("symbol", "seq"))}, "'symbol' of string with 'seq' of bigint"),
        ({"on": wr.equi("tags")}, "equi compares plain values of one kind"),
        ({"on": wr.equi("point")}, "equi compares plain values.*Hint: compare their fields, each"),
        ({"on": wr.equi(("ts", "zoned"))}, "'ts' of timestamp_ntz with 'zoned' of timestamp"),
        ({"on": wr.band(symbol=1)}, "band compares numbers, timestamps or dates"),
        ({"on": wr.band(cost=1)}, "'cost' of decimal.*\nHint: cast"),
        (
            {"on": wr.band(price="1 s")},
            "only timestamps, dates or integer microseconds can have a duration",
        ),
        ({"on": wr.band(ts=1.5)}, "a band of timestamps or dates must be a duration"),
        ({"on": wr.theta(lambda x, y: x["pric"] > 0)}, "the left side has no column 'pric'"),
        (
            {"on": wr.theta(lambda x, y: True)},  # type: ignore[arg-type, return-value]
            r"theta function .*<lambda> must return .*; got True of type bool for 0 pairs",
        ),
        ({"time": None}, "windows of time need an event time"),
        ({"time": "tz"}, "time: column not found on the left: 'tz'.\nHint"),
        ({"time": ("ts", "price")}, "got 'price' of double on the right"),
        ({"time": 3}, "join time must be the name of a column"),
        ({"delay": "-1 s"}, "join delay must not be negative"),
        (
            {"how": "cross"},
            r"how must be \"inner\", \"left\", .* or \"anti\"; got how='cross'",
        ),
        ({"how": None}, "how must be .*; got how=None"),
        ({"how": "outter"}, 'did you mean "outer"'),
        (
            {"strategy": "magic"},
            'strategy must be "grid", "centralised" or .*; got strategy=\'magic\'',
        ),
        ({"prefixes": ("", "")}, r"'symbol' twice with prefixes=\('', ''\)"),
        ({"prefixes": ("windrow.", "r_")}, "the name of a result must not begin with 'windrow.'"),
        ({"prefixes": ("l_",)}, "prefixes must be a pair of strings"),
        ({"layout": (2, 0)}, "layout columns must be a positive number of workers"),
        ({"layout": (2, 2), "degree": 5}, "must equal the degree"),
        ({"partitions": 0}, "partitions must be a positive number of grids"),
        ({"strategy": "handshake", "layout": (2, 2)}, 'layout describes a grid.*"handshake"'),
        ({"strategy": "centralised", "partitions": 2}, "partitions describes a grid.*degree"),
        ({"strategy": "handshake", "rates": (1, 2)}, "rates describes a grid"),
    ],
)
def test_what_is_wrong_is_said(given: dict[str, Any], message: str) -> None:
    with pytest.raises(wr.WindrowError, match=f"(?s){message}"):
        build(**given)


@pytest.mark.parametrize("within", ["1 s", timedelta(seconds=1), np.timedelta64(1, "s")])
def test_durations_are_windows_of_time(within: Any) -> None:
    assert not build(within=within).query.by_count
    assert build(within=within).query.lengths == (1_000_000, 1_000_000)


@pytest.mark.parametrize("within", [5, np.int32(5), (5, 5)])
def test_integers_are_windows_of_tuples(within: Any) -> None:
    assert build(within=within, time=None).query.by_count


def test_a_function_that_cannot_work_on_nothing_is_not_refused() -> None:
    def of_lists(left: Any, right: Any) -> Any:
        return np.array([a < b for a, b in zip(left["seq"], right["seq"], strict=True)])

    def of_extremes(left: Any, right: Any) -> Any:
        return left["seq"] < right["seq"].max()

    for function in (of_lists, of_extremes):
        assert len(build(on=wr.theta(function)).collect()) > 0


def test_what_goes_wrong_in_a_function_names_it() -> None:
    def is_fussy(left: Any, right: Any) -> Any:
        if len(left["seq"]):
            raise RuntimeError("no more")
        return left["seq"] < right["seq"]

    def is_numeric(left: Any, right: Any) -> Any:
        return left["seq"] - right["seq"]

    with pytest.raises(wr.WindrowError, match=r"is_fussy failed on a block of 4.*RuntimeError"):
        build(on=wr.theta(is_fussy)).collect()
    with pytest.raises(wr.WindrowError, match=r"is_numeric must return one boolean.*int64 for 0"):
        build(on=wr.theta(is_numeric))


MASKS: list[tuple[str, Any, bool]] = [
    ("booleans", lambda x: x > 0, True),
    ("a list", lambda x: [bool(v > 0) for v in x], True),
    ("objects", lambda x: (x > 0).astype(object), True),
    ("pandas", lambda x: pd.Series(x > 0), True),
    ("nullable pandas", lambda x: pd.array(x > 0, dtype="boolean"), True),
    ("Arrow", lambda x: pa.array(x > 0), True),
    ("chunks", lambda x: pa.chunked_array([pa.array(x > 0)]), True),
    ("integers", lambda x: (x > 0).astype(int), False),
    ("floats", lambda x: x - 1.0, False),
    ("texts", lambda x: x.astype(str), False),
    ("nulls", lambda x: np.array([True, None] * (len(x) // 2)), False),
    ("None", lambda x: None, False),
    ("a scalar", lambda x: np.bool_(True), False),
    ("a text", lambda x: "yes", False),
    ("a dict", lambda x: {}, False),
    ("too few", lambda x: x[1:] > 0, False),
    ("too many", lambda x: np.ones(len(x) + 1, bool), False),
    ("a matrix", lambda x: np.ones((len(x), 1), bool), False),
]


@pytest.mark.parametrize(("make", "is_mask"), [m[1:] for m in MASKS], ids=[m[0] for m in MASKS])
def test_a_function_returns_a_mask_and_nothing_else(make: Any, is_mask: bool) -> None:
    def decide(left: Any, right: Any) -> Any:
        return make(left["seq"])

    if is_mask:
        assert len(build(on=wr.theta(decide)).collect()) == 2
        return
    with pytest.raises(wr.WindrowError, match=r"decide must return one boolean .*; got .* pairs"):
        build(on=wr.theta(decide)).collect()


def test_a_functions_blocks_cannot_be_written_to() -> None:
    def is_rude(left: Any, right: Any) -> Any:
        left["seq"][:] = 0
        return left["seq"] == 0

    with pytest.raises(wr.WindrowError, match="read-only"):
        build(on=wr.theta(is_rude)).collect()


def test_semi_and_anti_keep_the_prefix_and_need_no_other() -> None:
    made = build(how="semi", prefixes=("", "")).collect()
    assert made.column_names == TABLE.column_names
    assert build(how="anti").collect().column_names == [f"left_{n}" for n in TABLE.column_names]


def test_prefixes_are_settable() -> None:
    made = build(prefixes=("", "other_")).collect()
    assert made.column_names == [*TABLE.column_names, *(f"other_{n}" for n in TABLE.column_names)]


def test_explain_says_what_runs_and_why(capsys: pytest.CaptureFixture[str]) -> None:
    build(degree=2).explain()
    printed = capsys.readouterr().out
    assert "inner on l.symbol = r.symbol" in printed
    assert "2 partitions by hash(l.symbol): only rows with the same hash" in printed
    assert "Cell x 2" in printed
    build(strategy="handshake", degree=3).explain()
    assert "Handshake of 3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("names", "meant"),
    [
        (["inner", "INNER"], "inner"),
        (["left", "leftouter", "left_outer", "Left_Outer"], "left_outer"),
        (["right", "rightouter", "right_outer"], "right_outer"),
        (["outer", "full", "fullouter", "full_outer"], "full_outer"),
        (["semi", "leftsemi", "left_semi"], "semi"),
        (["anti", "leftanti", "left_anti"], "anti"),
    ],
)
def test_sparks_names_for_how_are_accepted(names: list[str], meant: str) -> None:
    assert {build(how=name).query.how for name in names} == {meant}


def test_a_join_is_identified_by_what_its_state_depends_on() -> None:
    on = wr.equi("symbol") & wr.band(price=0.5)
    identity = build(on=on, how="semi", within=("1 s", "2 s"), delay="5 s").query.identity()
    assert json.loads(json.dumps(identity)) == identity
    assert identity == {
        "within": {"left": 1_000_000, "right": 2_000_000},
        "by_count": False,
        "on": on.identity(),
        "time": {"left": "ts", "right": "ts"},
        "time_types": {"left": "timestamp[us]", "right": "timestamp[us]"},
        "how": "semi",
        "columns": {
            "left": {f.name: str(f.type) for f in TABLE.schema},
            "right": {"symbol": "string", "price": "double"},
        },
    }
    assert build(within=5, time=None).query.identity()["time"] is None


def test_columns_that_nothing_needs_are_neither_carried_nor_part_of_the_identity() -> None:
    slim = TABLE.select(["symbol", "ts"])
    wide, narrow = (build(right=right, how="anti").query for right in (TABLE, slim))
    assert wide.identity() == narrow.identity()
    message, _ = join_tuples(wide, 1, TABLE, 0)
    assert data_of(message).column_names == ["symbol"]


def test_a_join_of_tables_has_no_checkpoint() -> None:
    with pytest.raises(wr.WindrowError, match="only a streaming query has a checkpoint"):
        build().check_checkpoint("somewhere")


def test_a_scan_is_a_side_and_a_query_with_steps_is_none(tmp_path: Path) -> None:
    rows = pa.table({"k": ["a", "b"], "t": [1, 2]})
    pq.write_table(rows, tmp_path / "rows.parquet")
    how: dict[str, Any] = {"within": "5 us", "on": wr.equi("k"), "time": "t"}
    files = wr.scan(tmp_path / "rows.parquet")
    for other in (files, wr.stream(rows), rows):
        assert len(wr.join(files, other, **how).collect()) == 2
    with pytest.raises(
        wr.WindrowError, match="the right side of join takes rows, not a query with"
    ):
        wr.join(files, files.key_by("k"), **how)
