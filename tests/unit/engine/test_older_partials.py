"""Partials that older versions stored are read: without what rounding lost, decimals pickled."""

from __future__ import annotations

import pickle
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from tests.unit.engine.test_partials import ranges
from windrow import functions as wf
from windrow.core import Aggregate
from windrow.engine.evaluate.partials import PartialColumns
from windrow.engine.windows.fired import TupleColumns

SCHEMA = pa.schema([("x", pa.float64()), ("m", pa.decimal128(38, 2))])


def partials_of(function: Aggregate[Any, Any, Any]) -> PartialColumns:
    query = wr.stream(SCHEMA.empty_table()).window(wr.CountWindow(1)).agg(r=function)
    return PartialColumns(query.window_query())


def test_sums_stored_without_what_rounding_lost_are_read() -> None:
    partials = partials_of(wf.sum("x"))
    stored = partials.completed(pa.table({"r#0": [1, 2], "r#1": [0.5, 1.5]}))
    assert stored.select(partials.schema.names).schema == partials.schema
    assert partials.combine("r", TupleColumns.of(stored), ranges([0, 2])).to_pylist() == [2.0]


GREAT = Decimal("12345678901234567890123456789012345.25")
GREATER = Decimal("12345678901234567890123456789012346.25")


@pytest.mark.parametrize(
    ("function", "older", "expected"),
    [
        (
            wf.sum("m"),
            [(GREAT,), None, (Decimal("1.00"),)],
            Decimal("12345678901234567890123456789012346.25"),
        ),
        (wf.sum("m"), [None], None),
        (wf.min("m"), [(GREAT,), None, (Decimal("1.00"),)], Decimal("1.00")),
        (wf.max("m"), [(Decimal("3.00"),), None], Decimal("3.00")),
        (wf.mean("m"), [((Decimal("5.00"), 2),), None, ((Decimal("1.00"), 1),)], Decimal(2)),
    ],
)
def test_pickled_partials_of_decimals_are_read(function: Any, older: Any, expected: Any) -> None:
    partials = partials_of(function)
    stored = partials.completed(pa.table({"r#": [pickle.dumps(p) for p in older]}))
    found = partials.combine("r", TupleColumns.of(stored), ranges([0, len(older)]))
    assert found.to_pylist() == [expected]
