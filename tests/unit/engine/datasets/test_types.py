"""The types that a dataset's columns are read with."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.columns_of_every_type import READ, REFUSED
from windrow.engine.datasets.types import converted, fits, spark_type


@pytest.mark.parametrize("name", READ)
def test_a_column_is_read_with_the_type_that_spark_gives_it(name: str) -> None:
    kind, read, values = READ[name]
    found = spark_type(kind)
    assert found is not None
    assert found.equals(read) or str(found) == str(read).replace("item", "element")
    array = pa.array(values, kind.value_type if name == "dictionary" else kind)
    expected = [v.microseconds for v in values[:1]] if name == "duration" else values[:1]
    assert converted(array, found).to_pylist()[:1] == expected


@pytest.mark.parametrize("name", REFUSED)
def test_types_without_a_reader_in_spark_have_none(name: str) -> None:
    assert spark_type(REFUSED[name]) is None


def test_nanoseconds_are_rounded_down() -> None:
    times = pa.array([-1, 1_999, None], pa.timestamp("ns"))
    found = converted(times, pa.timestamp("us"))
    assert found.cast(pa.int64()).to_pylist() == [-1, 1, None]


@pytest.mark.parametrize(
    ("found", "declared", "expected"),
    [
        (pa.int8(), pa.int64(), True),
        (pa.uint32(), pa.int64(), True),
        (pa.uint64(), pa.int64(), False),
        (pa.float32(), pa.float64(), True),
        (pa.float64(), pa.float32(), False),
        (pa.int64(), pa.float64(), False),
        (pa.null(), pa.string(), True),
        (pa.string(), pa.dictionary(pa.int8(), pa.string()), True),
        (pa.timestamp("ms"), pa.timestamp("us"), True),
        (pa.timestamp("us"), pa.timestamp("us", "UTC"), False),
        (pa.decimal128(5, 2), pa.decimal128(7, 3), True),
        (pa.decimal128(5, 2), pa.decimal128(5, 3), False),
        (pa.list_(pa.int64()), pa.list_(pa.int64(), 2), True),
        (pa.time32("s"), pa.time32("s"), False),
    ],
)
def test_a_file_may_have_a_narrower_type(
    found: pa.DataType, declared: pa.DataType, expected: bool
) -> None:
    assert fits(found, declared) is expected
