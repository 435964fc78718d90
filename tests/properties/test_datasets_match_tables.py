"""A query over files gives exactly what it gives over the table read as a whole."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.columns_of_every_type import READ
from tests.effort import examples
from tests.streams import models_in_milliseconds, rows
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.engine.datasets import scan, steps
from windrow.patterns import Pattern

TIMES = [
    pa.timestamp("us"),
    pa.timestamp("ms"),
    pa.timestamp("ns"),
    pa.timestamp("us", "UTC"),
    pa.timestamp("ms", "Europe/Rome"),
    pa.timestamp("ns", "UTC"),
]
KEYS = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
VALUES = st.sampled_from(list(READ))
HAS_NO_FILTER = {"string_view", "binary_view"}
"""Types whose rows PyArrow cannot filter."""
PATTERNS: list[Pattern | None] = [None, wr.KeyFarm(3), wr.WinFarm(2, workers="agnostic")]


@st.composite
def files(draw: st.DrawFn) -> tuple[list[pa.Table], list[int], list[str]]:
    """Tables of some types, each for a file, and the rows of their row groups and their folders."""
    stream = draw(rows(max_size=40, scale=1000))
    time, key = draw(st.sampled_from(TIMES)), draw(st.sampled_from(KEYS))
    kind, _, values = READ[draw(VALUES)]
    chosen = [values[i % len(values)] for i in range(len(stream))]
    micros = [row["t"] if i % 11 else None for i, row in enumerate(stream)]
    value_type = kind.value_type if pa.types.is_dictionary(kind) else kind
    table = pa.table(
        {
            "k": pa.array([row["k"] for row in stream], pa.string()).cast(key),
            "t": pa.array(micros, pa.timestamp("us", time.tz)).cast(time),
            "seq": pa.array([row["seq"] for row in stream], pa.int32()),
            "d": pa.array([row["d"] for row in stream], pa.int64()),
            "x": pa.array([row["x"] for row in stream], pa.int64()),
            "v": pa.array(chosen, value_type).cast(kind),
        }
    )
    edges = sorted(draw(st.lists(st.integers(0, len(table)), max_size=4)))
    tables = [
        table.slice(first, last - first)
        for first, last in zip([0, *edges], [*edges, len(table)], strict=True)
    ]
    groups = [draw(st.integers(1, 1 << draw(st.integers(0, 10)))) for _ in tables]
    folders = [draw(st.sampled_from(["p=0", "p=1", "p=2"])) for _ in tables]
    return tables, groups, folders


def written(folder: str, made: tuple[list[pa.Table], list[int], list[str]]) -> ds.Dataset:
    """The dataset of the files."""
    for i, (table, group, name) in enumerate(zip(*made, strict=True)):
        path = Path(folder) / name / f"{i}.parquet"
        path.parent.mkdir(exist_ok=True)
        pq.write_table(table, path, row_group_size=group, write_statistics=i % 3 > 0)
    return ds.dataset(folder, partitioning="hive")


def as_spark_reads(table: pa.Table, kind: pa.DataType) -> pa.Table:
    """The table with the types that it is read with; nanoseconds rounded down."""
    time = pc.floor_temporal(table["t"], unit="microsecond")
    zone = table.schema.field("t").type.tz and "UTC"
    columns = {
        "k": table["k"].cast(pa.string()),
        "t": time.cast(pa.timestamp("us", zone)),
        "v": table["v"].cast(kind),
    }
    return pa.table({name: columns.get(name, table[name]) for name in table.column_names})


def read_as(table: pa.Table) -> pa.DataType:
    """The type that the values are read with."""
    found = table.schema.field("v").type
    return next(read for kind, read, _ in READ.values() if kind == found)


def in_small_steps(batch: int, step: int) -> pytest.MonkeyPatch:
    """Batches and steps of a few rows, until it is undone."""
    patch = pytest.MonkeyPatch()
    patch.setattr(scan, "ROWS_AT_ONCE", batch)
    patch.setattr(steps, "_ROWS", step)
    return patch


@examples(200)
@given(
    files(),
    models_in_milliseconds,
    st.sampled_from(["emit", "drop"]),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.sampled_from(PATTERNS),
    st.tuples(st.integers(1, 8), st.integers(1, 16)),
)
def test_windows_over_files_equal_those_over_the_table(
    made: tuple[list[pa.Table], list[int], list[str]],
    model: WindowModel,
    open_windows: Literal["emit", "drop"],
    is_timed: bool,
    is_ordered: bool,
    is_filtered: bool,
    pattern: Pattern | None,
    sizes: tuple[int, int],
) -> None:
    kind = read_as(made[0][0])
    functions = {"n": wf.count(), "total": wf.sum("x"), "first": wf.first("x"), "v": wf.last("v")}

    def results(data: Any) -> pa.Table:
        query = wr.stream(data).key_by("k", "p").window(model, open_windows=open_windows)
        if is_timed or isinstance(model, wr.DeltaWindow) or model.needs_event_time:
            query = query.event_time("t", "2 ms")
        query = query.order_by("seq") if is_ordered else query
        query = query.agg(**functions).ordered()
        return (query if pattern is None else query.using(pattern)).collect()

    with tempfile.TemporaryDirectory() as folder:
        dataset = written(folder, made)
        if is_filtered and not HAS_NO_FILTER & set(map(str, dataset.schema.types)):
            dataset = dataset.filter((pc.field("seq") > 0) & (pc.field("p") != 1))
        expected = results(as_spark_reads(dataset.to_table(), kind))
        patch = in_small_steps(*sizes)
        try:
            found = results(dataset)
        finally:
            patch.undo()
    assert found.schema == expected.schema
    assert found.to_pylist() == expected.to_pylist()
    assert found.schema.metadata == expected.schema.metadata


@examples(60)
@given(
    files(),
    files(),
    st.sampled_from(["inner", "full_outer", "anti"]),
    st.sampled_from(["3 ms", 4]),
    st.booleans(),
    st.tuples(st.integers(1, 8), st.integers(1, 16)),
)
def test_joins_of_files_equal_those_of_the_tables(
    left: Any, right: Any, how: Any, within: Any, is_timed: bool, sizes: tuple[int, int]
) -> None:
    time = "t" if is_timed or isinstance(within, str) else None

    def results(a: Any, b: Any) -> list[str]:
        join = wr.join(a, b, within=within, on=wr.equi("k"), time=time, how=how)
        return sorted(map(str, join.collect().to_pylist()))

    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        both = written(one, left), written(other, right)
        tables = [
            as_spark_reads(dataset.to_table(), read_as(made[0][0]))
            for dataset, made in zip(both, (left, right), strict=True)
        ]
        expected = results(*tables)
        patch = in_small_steps(*sizes)
        try:
            assert results(*both) == expected
            assert results(both[0], tables[1]) == expected
        finally:
            patch.undo()
