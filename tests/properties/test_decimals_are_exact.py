"""Decimals are exact to the last digit in every function, pattern and batch split."""

from __future__ import annotations

import statistics
from decimal import ROUND_HALF_UP, Decimal, localcontext
from fractions import Fraction
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.effort import examples
from tests.patterns import PLACES, patterns
from tests.streams import models_in_milliseconds
from windrow import functions as wf
from windrow.core import WindowModel, oracle
from windrow.engine.in_process import WindowRunner
from windrow.patterns.windows import window_stages

TYPES = [(38, 0), (38, 18), (38, 38), (30, 5), (10, 2), (3, 3)]


def whole(values: list[Decimal], scale: int) -> int:
    """The sum in units of the last digit."""
    return sum(int(Fraction(v) * 10**scale) for v in values)


def naive_mean(values: list[Decimal], scale: int) -> Decimal:
    """Rounded to 39 digits behind the point, then to four more than the values have."""
    finer = min(scale + 4, 38)
    quotient = Fraction(whole(values, scale), len(values)) * 10 ** (39 - scale)
    size = (2 * abs(quotient) + 1) // 2
    unit = 10 ** (39 - finer)
    size = (2 * size + unit) // (2 * unit)
    with localcontext(prec=80):
        return Decimal(-size if quotient < 0 else size).scaleb(-finer)


@st.composite
def decimals(draw: st.DrawFn, precision: int, scale: int) -> Decimal | None:
    """Of every size, but so small that no sum and no mean overflows."""
    digits = draw(st.integers(0, min(precision, 32)))
    number = draw(st.integers(-(10**digits) + 1, 10**digits - 1))
    with localcontext(prec=80):
        return draw(st.sampled_from([None, Decimal(number).scaleb(-scale)]))


@examples(300)
@given(st.data(), models_in_milliseconds, st.sampled_from(TYPES))
def test_every_function_of_decimals_equals_its_definition(
    data: st.DataObject, model: WindowModel, kind: tuple[int, int]
) -> None:
    precision, scale = kind
    drawn = data.draw(st.lists(st.tuples(st.integers(0, 1), decimals(precision, scale))))
    rows: list[dict[str, Any]] = [
        {"k": k, "t": i * 700, "m": m, "d": i} for i, (k, m) in enumerate(drawn)
    ]
    schema = pa.schema(
        [("k", pa.int64()), ("t", pa.int64()), ("m", pa.decimal128(*kind)), ("d", pa.int64())]
    )
    query = wr.stream(schema.empty_table()).key_by("k").event_time("t").window(model)
    query = query.agg(
        total=wf.sum("m"),
        mean=wf.mean("m"),
        least=wf.min("m"),
        most=wf.max("m"),
        oldest=wf.first("m", ignore_nulls=True),
        middle=wf.quantile("m", 1),
        all=wf.collect("m"),
        var=wf.var("m"),
        n=wf.count("m"),
    )
    complete = query.window_query()
    assert complete.result_schema().field("mean").type.scale == min(scale + 4, 38)
    stages = window_stages(complete, data.draw(patterns(model, True, [0])), data.draw(PLACES))
    runner, found = WindowRunner(complete, stages), []
    cut = data.draw(st.integers(0, len(rows)))
    for batch in (rows[:cut], rows[cut:]):
        found += runner.push(pa.Table.from_pylist(batch, schema))
        found += runner.advance(batch[-1]["t"] if batch else 0)
        snapshot = runner.snapshot()
        runner = WindowRunner(complete, stages)
        runner.restore(snapshot)
    found += runner.finish()
    got = {(r["k"], r["window_id"]): r for table in found for r in table.to_pylist()}
    for window in oracle.windows(model, rows, key=["k"], time="t"):
        known = [row["m"] for row in window.rows if row["m"] is not None]
        result = got.pop((*window.key, window.id))
        assert (result["n"], result["all"]) == (len(known), known)
        if not known:
            assert result["total"] is None and result["mean"] is None and result["least"] is None
            continue
        with localcontext(prec=80):
            assert result["total"] == Decimal(whole(known, scale)).scaleb(-scale)
        assert result["mean"] == naive_mean(known, scale) == wf.mean("m").over(known)
        assert (result["least"], result["most"]) == (min(known), max(known))
        assert (result["oldest"], result["middle"]) == (known[0], float(max(known)))
        if len(known) > 1:
            exact = float(statistics.variance(map(Fraction, map(float, known))))
            assert result["var"] == pytest.approx(exact, rel=1e-9)
    assert not got


NINES = Decimal("9" * 38)
PATTERNS = [wr.WinSeq(), wr.PaneFarm(2, 2), wr.WinMapReduce(2, 1)]
EVERY_KIND = pytest.mark.parametrize("pattern", PATTERNS, ids=repr)


def over(values: list[Decimal], kind: pa.DataType, **functions: Any) -> wr.Query:
    table = pa.table({"t": range(len(values)), "m": pa.array(values, kind)})
    return wr.stream(table).event_time("t").window(wr.CountWindow(4, 2)).agg(**functions)


@EVERY_KIND
def test_sum_beyond_38_digits_is_an_error_that_names_the_window(pattern: Any) -> None:
    query = over([NINES, Decimal(1), NINES, Decimal(1)], pa.decimal128(38, 0), total=wf.sum("m"))
    with pytest.raises(wr.WindrowError, match=r"Sum\('m'\) failed on window 0") as refusal:
        query.using(pattern).collect()
    assert "a result in decimals needs more digits than its type has, decimal(38,0)" in str(
        refusal.value
    )


@EVERY_KIND
def test_sum_that_only_exceeds_38_digits_on_the_way_is_exact(pattern: Any) -> None:
    values = [NINES, NINES, NINES.copy_negate(), Decimal(0)]
    query = over(values, pa.decimal128(38, 0), total=wf.sum("m"))
    totals = query.using(pattern).ordered().collect()["total"].to_pylist()
    assert totals == [NINES, NINES.copy_negate()]


def test_mean_beyond_38_digits_is_an_error() -> None:
    with pytest.raises(wr.WindrowError, match=r"Mean\('m'\) failed on window 0"):
        over([NINES] * 3, pa.decimal128(38, 0), mean=wf.mean("m")).collect()


def test_sums_do_not_depend_on_pythons_decimal_context() -> None:
    values = [Decimal("12345678901234567890123456789012345"), Decimal(1)]
    with localcontext(prec=6, rounding=ROUND_HALF_UP):
        for pattern in (wr.WinSeq(), wr.WinMapReduce(2, 1)):
            query = over(values, pa.decimal128(38, 0), total=wf.sum("m"), mean=wf.mean("m"))
            (row,) = query.using(pattern).collect().to_pylist()
            assert str(row["total"]) == "12345678901234567890123456789012346"
            assert str(row["mean"]) == "6172839450617283945061728394506173.0000"
        assert str(wf.sum("m").over(values)) == "12345678901234567890123456789012346"


class Added(wr.Aggregate[Decimal, Decimal, Decimal]):
    """A sum as a user writes it."""

    returns = "decimal(38,18)"

    def lift(self, value: Decimal) -> Decimal:
        return value

    def combine(self, a: Decimal, b: Decimal) -> Decimal:
        return a + b

    def lower(self, partial: Decimal) -> Decimal:
        return partial


class Subtracted(Added, wr.Invertible[Decimal, Decimal, Decimal]):
    def subtract(self, whole: Decimal, older: Decimal) -> Decimal:
        return whole - older


def add_row(total: Decimal, row: Any) -> Any:
    return total + row["m"]


def in_window(window: wr.Window) -> dict[str, Any]:
    return {"v": sum(window["m"])}


def in_next_round(window: wr.Window, before: Decimal) -> dict[str, Any]:
    return {"v": sum(window["m"]) + before - before}


def in_partials(partials: list[Any]) -> Any:
    return sum((p["v"] for p in partials), Decimal(0))


LONG = [Decimal(f"1234567890123456789{i}.{i}23456789012345678") for i in range(1, 9)]
FIELD = "v decimal(38,18)"
BY_USERS: dict[str, Any] = {
    "fold": lambda w: w.fold(add_row, Decimal(0), FIELD),
    "apply": lambda w: w.apply(in_window, FIELD),
    "decompose": lambda w: w.decompose(
        partial=in_window, combine=in_partials, partial_returns=FIELD, returns=FIELD
    ),
    "decompose in rounds": lambda w: w.decompose(
        partial=[in_window, in_next_round],
        combine=[in_partials, in_partials],
        partial_returns=[FIELD, FIELD],
        returns=FIELD,
    ),
    "an aggregate": lambda w: w.agg(v=Added("m")),
    "an invertible aggregate": lambda w: w.agg(v=Subtracted("m")),
}


@pytest.mark.parametrize("pattern", [*PATTERNS, wr.WinFarm(2, workers="agnostic")], ids=repr)
@pytest.mark.parametrize("computed", BY_USERS)
def test_functions_of_users_keep_all_digits_of_decimals(computed: str, pattern: Any) -> None:
    if computed == "decompose in rounds" and isinstance(pattern, wr.PaneFarm):
        pytest.skip("a pane farm has one round")
    if computed in ("fold", "apply") and isinstance(pattern, wr.PaneFarm | wr.WinMapReduce):
        pytest.skip("it cannot be decomposed")
    table = pa.table({"t": range(len(LONG)), "m": pa.array(LONG, pa.decimal128(38, 18))})
    windows = wr.stream(table).event_time("t").window(wr.CountWindow(4, 2))
    found = BY_USERS[computed](windows).using(pattern).ordered().collect()["v"].to_pylist()
    assert found == [exact_sum(LONG[i : i + 4]) for i in range(0, len(LONG), 2)]


def exact_sum(values: list[Decimal]) -> Decimal:
    with localcontext(prec=80):
        return Decimal(whole(values, 18)).scaleb(-18)


def test_the_definition_of_an_aggregate_of_a_user_keeps_all_digits() -> None:
    assert Added("m").over(LONG) == exact_sum(LONG)
