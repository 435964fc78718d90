"""Columns of every type are carried, compared and shown."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import windrow as wr

NAN = float("nan")


def pairs(left: Any, right: Any, on: Any, **more: Any) -> list[tuple[int, int]]:
    """Positions of the pairs that match."""
    tables = [
        pa.table({"v": values, "n": pa.array(range(len(values)), pa.int64())})
        for values in (left, right)
    ]
    found = wr.join(*tables, within=100, on=on, **more).collect()
    rows = found.select(["left_n", "right_n"]).to_pylist()
    return sorted((row["left_n"], row["right_n"]) for row in rows)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (pa.array(["a", None]), pa.array(["b", "a", None], pa.large_string()), [(0, 1)]),
        (pa.array([b"a"]), pa.array([b"a"]), [(0, 0)]),
        (pa.array([1, 2], pa.int8()), pa.array([2, 1], pa.int64()), [(0, 1), (1, 0)]),
        (pa.array([1, 2], pa.int64()), pa.array([2.0, 1.5]), [(1, 0)]),
        (pa.array([NAN, 0.0, None]), pa.array([NAN, -0.0, None]), [(0, 0), (1, 1)]),
        (pa.array([0.5], pa.float32()), pa.array([0.5]), [(0, 0)]),
        (pa.array([True, False, None]), pa.array([True, None]), [(0, 0)]),
        (pa.array([Decimal("1.50")]), pa.array([Decimal("1.5"), Decimal("2.5")]), [(0, 0)]),
        (pa.array([dt.date(2020, 1, 2)]), pa.array([dt.datetime(2020, 1, 2)]), [(0, 0)]),
        (
            pa.array([1, None], pa.timestamp("ms", "UTC")),
            pa.array([1000, None], pa.timestamp("us", "Europe/Rome")),
            [(0, 0)],
        ),
        (pa.array(["a", "b"]).dictionary_encode(), pa.array(["b"]), [(1, 0)]),
    ],
)
@pytest.mark.parametrize("degree", [1, 3])
def test_equality_is_sparks(left: Any, right: Any, expected: Any, degree: int) -> None:
    assert pairs(left, right, wr.equi("v"), degree=degree) == expected


@pytest.mark.parametrize(
    ("left", "right", "extent", "expected"),
    [
        (pa.array([10]), pa.array([5, 4, 20, 21]), (5, 10), [(0, 0), (0, 2)]),
        (pa.array([10], pa.int16()), pa.array([12.5, 12.6]), 2.5, [(0, 0)]),
        (pa.array([10]), pa.array([12, 13]), 2.9, [(0, 0)]),
        (pa.array([2**63 - 1, -(2**63)]), pa.array([2**63 - 1, -(2**63)]), 5, [(0, 0), (1, 1)]),
        (pa.array([2**63 - 3, 0]), pa.array([2**63 - 1, 6]), (-5, 9), [(1, 1)]),
        (pa.array([-(2**63) + 2, 0]), pa.array([-(2**63), -6]), (9, -5), [(1, 1)]),
        (pa.array([0.1]), pa.array([0.3]), 0.2, [(0, 0)]),
        (pa.array([0.3]), pa.array([0.1]), 0.2, [(0, 0)]),
        (pa.array([1e300, None, NAN]), pa.array([1e300, None, NAN]), 1, [(0, 0)]),
        (
            pa.array([1_000_000], pa.timestamp("us")),
            pa.array([2000, 2001, None], pa.timestamp("ms")),
            "1 s",
            [(0, 0)],
        ),
        (pa.array([dt.date(2020, 1, 2)]), pa.array([dt.date(2020, 1, 4)]), "2 days", [(0, 0)]),
        (pa.array([0]), pa.array([1000]), "1 ms", [(0, 0)]),
    ],
)
@pytest.mark.parametrize("degree", [1, 3])
def test_bands_of_every_type(
    left: Any, right: Any, extent: Any, expected: Any, degree: int
) -> None:
    assert pairs(left, right, wr.band(v=extent), degree=degree) == expected


def test_all_types_come_out_as_they_went_in() -> None:
    table = pa.table(
        {
            "n": [1, 2],
            "s": pa.array(["x", None], pa.large_string()),
            "d": pa.array(["x", "y"]).dictionary_encode(),
            "l": [[1], None],
            "m": pa.array([{"a": 1}, None], pa.struct([("a", pa.int64())])),
            "t": pa.array([1, None], pa.timestamp("ns", "UTC")),
            "c": [Decimal("1.5"), None],
        }
    )
    made = wr.join(table, table, within=9, on=wr.equi("n"), how="full_outer", layout=(2, 2))
    result = made.collect()
    assert result.schema.types == table.schema.types * 2
    rows = sorted(result.to_pylist(), key=lambda row: row["left_n"])
    assert [{k[5:]: v for k, v in row.items() if k[:5] == "left_"} for row in rows] == (
        table.to_pylist()
    )


def test_a_function_sees_what_a_window_would_show() -> None:
    kinds = {}

    def look(left: Any, right: Any) -> Any:
        kinds.update({name: left[name].dtype for name in left})
        return left["n"] == right["n"]

    table = pa.table(
        {
            "n": [1, 2],
            "x": [1, None],
            "s": ["a", None],
            "t": pa.array([0, 1], pa.timestamp("us")),
            "d": pa.array([0, 1], pa.date32()),
        }
    )
    assert len(wr.join(table, table, within=9, on=wr.theta(look)).collect()) == 2
    assert kinds == {
        "n": np.dtype("int64"),
        "x": np.dtype("float64"),
        "s": np.dtype("object"),
        "t": np.dtype("M8[us]"),
        "d": np.dtype("M8[D]"),
    }


def test_empty_sides_and_dropped_tuples() -> None:
    table = pa.table({"t": pa.array([1, None], pa.int64())})
    join = wr.join(table, table.slice(0, 0), within="1 s", on=wr.equi("t"), time="t", how="anti")
    made = join.collect()
    assert made.to_pylist() == [{"left_t": 1}]
    assert made.schema.metadata == {b"windrow.dropped": b"1"}
