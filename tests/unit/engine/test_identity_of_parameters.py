"""Every parameter and every type that state depends on is part of what a checkpoint says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from inspect import Parameter, signature
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.core import WindowModel
from windrow.engine.joins.terms.band import Band
from windrow.engine.joins.terms.equi import Equi
from windrow.engine.joins.terms.theta import Theta
from windrow.engine.state.identity import describe
from windrow.engine.state.mismatch import refuse_mismatch
from windrow.patterns import Pattern

SCHEMA = pa.schema([("k", pa.string()), *((name, pa.int64()) for name in ("t", "seq", "x", "y"))])
Description = dict[str, Any]


def query(
    model: WindowModel | None = None, schema: pa.Schema = SCHEMA, **functions: Any
) -> wr.Query:
    stream = wr.stream(schema.empty_table()).key_by("k").event_time("t").order_by("seq")
    return stream.window(model or wr.CountWindow(8, 2)).agg(**functions or {"n": wf.count()})


def described(query: wr.Query, pattern: Pattern | None = None) -> Description:
    return describe(query.window_query(), pattern or wr.WinSeq())


def assert_refused(was: Description, now: Description, name: object = "") -> None:
    assert json.dumps(was) != json.dumps(now), name
    for one, other in ((was, now), (now, was)):
        with pytest.raises(wr.WindrowError, match="another query"):
            refuse_mismatch(one, other)
    refuse_mismatch(was, was)


ARGUMENTS: dict[str, tuple[Any, Any]] = {
    "column": ("x", "y"),
    "columns": (["x", "y"], ["y", "x"]),
    "value": ("x", "y"),
    "x": ("x", "seq"),
    "y": ("y", "seq"),
    "by": ("y", "seq"),
    "q": (0.5, 0.9),
    "k": (2, 3),
    "degree": (1, 2),
    "ignore_nulls": (False, True),
    "maximise": (False, True),
}
"""Two values of each parameter of the library's functions."""


def functions_with(name: str) -> Iterator[tuple[str, Any, Any]]:
    """For each parameter of a function, the function with two values of it."""
    make = getattr(wf, name)
    parameters = signature(make).parameters

    def made(changed: str | None) -> Any:
        given = {p: ARGUMENTS[p][p == changed] for p in parameters}
        several = [p for p in parameters if parameters[p].kind is Parameter.VAR_POSITIONAL]
        positional = [column for p in several for column in given.pop(p)]
        return make(*positional, **given)

    for parameter in parameters:
        yield parameter, made(None), made(parameter)


@pytest.mark.parametrize("name", wf.__all__)
def test_every_parameter_of_a_function_is_part_of_the_identity(name: str) -> None:
    for parameter, one, other in functions_with(name):
        assert repr(one) != repr(other), parameter
        assert_refused(described(query(r=one)), described(query(r=other)), parameter)


@pytest.mark.parametrize("name", wf.__all__)
def test_the_types_of_a_functions_columns_are_part_of_the_identity(name: str) -> None:
    (_, function, _), *_ = functions_with(name)
    for column in function.columns:
        at = SCHEMA.get_field_index(column)
        floats = SCHEMA.set(at, pa.field(column, pa.float64()))
        one, other = (query(schema=schema, r=function) for schema in (SCHEMA, floats))
        assert_refused(described(one), described(other), column)


def test_functions_differ_from_each_other() -> None:
    made = {}
    for name in wf.__all__:
        (_, function, _), *_ = functions_with(name)
        made[name] = str(described(query(r=function)))
    assert len(set(made.values())) == len(made)


MODELS: list[tuple[type[WindowModel], dict[str, tuple[Any, Any]]]] = [
    (wr.CountWindow, {"length": (8, 9), "slide": (2, 3)}),
    (wr.TimeWindow, {"length": (8, 12), "slide": (4, 2), "origin": (0, 1)}),
    (wr.SlideByTupleWindow, {"length": (8, 9), "slide": (2, 3)}),
    (wr.SlideByTimeWindow, {"length": (8, 9), "slide": (2, 3), "origin": (0, 1)}),
    (wr.DeltaWindow, {"on": ("x", "y"), "length": (8, 8.0), "slide": (2, 3)}),
    (wr.SessionWindow, {"gap": (5, 6)}),
    (wr.LandmarkWindow, {"every": (12, 24), "slide": (4, 2), "origin": (0, 1)}),
]
PATTERNS: list[tuple[type[Pattern], dict[str, tuple[Any, Any]]]] = [
    (wr.WinSeq, {}),
    (wr.KeyFarm, {"n": (2, 3), "inner": (wr.WinSeq(), wr.PaneFarm(2, 1)), "level": (0, 1)}),
    (
        wr.KeyFarm,
        {
            "n": (2, 2),
            "level": (0, 1),
            "hot_keys": ([1], [2]),
            "hot": (wr.WinFarm(2), wr.WinFarm(2, batch=2)),
        },
    ),
    (
        wr.WinFarm,
        {
            "n": (2, 3),
            "inner": (wr.WinSeq(), wr.WinMapReduce(2, 1)),
            "workers": ("active", "agnostic"),
            "batch": (1, 2),
            "level": (0, 2),
        },
    ),
    (
        wr.PaneFarm,
        {"plq": (2, 3), "wlq": (2, 3), "level": (0, 1), "workers": ("active", "agnostic")},
    ),
    (wr.WinMapReduce, {"map": (2, 3), "reduce": (2, 3), "level": (0, 1)}),
]
MAY_CHANGE = ("level", "reduce")
"""The parameters of patterns that no state depends on."""
TERMS: list[tuple[type[wr.Term], dict[str, tuple[Any, Any]]]] = [
    (Equi, {"left": ("x", "y"), "right": ("x", "y")}),
    (
        Band,
        {
            "left": ("x", "y"),
            "right": ("x", "y"),
            "below": (1, 2),
            "above": (1, float("inf")),
            "is_duration": (False, True),
        },
    ),
    (Theta, {"function": (len, max)}),
]


def exported(base: type[Any]) -> set[type[Any]]:
    """The classes of the library derived from a class."""
    found = {c for c in vars(wr).values() if isinstance(c, type) and issubclass(c, base)}
    return {c for c in found if is_dataclass(c)}


def pairs_of(kind: type[Any], values: dict[str, tuple[Any, Any]]) -> Iterator[tuple[str, Any, Any]]:
    base = {name: one for name, (one, _) in values.items()}
    for name, (_, other) in values.items():
        if other != values[name][0]:
            yield name, kind(**base), kind(**{**base, name: other})


def parameters_of(
    kinds: list[tuple[type[Any], dict[str, tuple[Any, Any]]]],
) -> dict[type[Any], set[str]]:
    """The parameters that are tried, by class."""
    tried: dict[type[Any], set[str]] = {}
    for kind, values in kinds:
        tried.setdefault(kind, set()).update(values)
    return tried


@pytest.mark.parametrize("kinds", ["MODELS", "PATTERNS", "TERMS"])
def test_no_parameter_is_left_out(kinds: str) -> None:
    for kind, tried in parameters_of(globals()[kinds]).items():
        assert tried == {f.name for f in fields(kind) if f.compare}


def test_no_model_and_no_pattern_is_left_out() -> None:
    assert {kind for kind, _ in MODELS} == exported(WindowModel)
    assert {kind for kind, _ in PATTERNS} == exported(Pattern)


@pytest.mark.parametrize(("kind", "values"), MODELS)
def test_every_parameter_of_a_window_model_is_part_of_the_identity(
    kind: type[WindowModel], values: dict[str, tuple[Any, Any]]
) -> None:
    for name, one, other in pairs_of(kind, values):
        assert_refused(described(query(one)), described(query(other)), name)


@pytest.mark.parametrize(("kind", "values"), PATTERNS)
def test_every_parameter_of_a_pattern_is_part_of_the_identity(
    kind: type[Pattern], values: dict[str, tuple[Any, Any]]
) -> None:
    for name, one, other in pairs_of(kind, values):
        was, now = described(query(), one), described(query(), other)
        if name in MAY_CHANGE:
            assert was != now
            refuse_mismatch(was, now)
        else:
            assert_refused(was, now, name)


@pytest.mark.parametrize(("kind", "values"), TERMS)
def test_every_parameter_of_a_term_is_part_of_the_identity(
    kind: type[wr.Term], values: dict[str, tuple[Any, Any]]
) -> None:
    for name, one, other in pairs_of(kind, values):
        assert one.identity() != other.identity(), name


COLUMNS = {
    "key": ("k", pa.int64()),
    "event time": ("t", pa.timestamp("us")),
    "order": ("seq", pa.int32()),
    "attribute of the model": ("x", pa.float64()),
}


@pytest.mark.parametrize("what", COLUMNS)
def test_the_types_of_all_columns_in_use_are_part_of_the_identity(what: str) -> None:
    name, kind = COLUMNS[what]
    other = SCHEMA.set(SCHEMA.get_field_index(name), pa.field(name, kind))
    model = wr.DeltaWindow("x", 3.0, 1.0)
    was, now = (described(query(model, schema)) for schema in (SCHEMA, other))
    assert_refused(was, now)


@pytest.mark.parametrize("inits", [(0, 1), (0, 0.0), ([], [0]), ({}, {"a": 1}), (None, 0)], ids=str)
def test_where_a_fold_begins_is_part_of_the_identity(inits: tuple[Any, Any]) -> None:
    was, now = (described(query().fold(max, init, returns="r bigint")) for init in inits)
    assert_refused(was, now)


class Limited(wr.Aggregate[int, int, int]):
    """A user's own, whose parameters have defaults that are not null and not empty."""

    returns = "bigint"

    def __init__(self, column: str, limit: int | None = 5, steps: tuple[int, ...] = (1,)) -> None:
        super().__init__(column)
        self.limit, self.steps = limit, steps

    def lift(self, value: int) -> int:
        return value

    def combine(self, a: int, b: int) -> int:
        return a + b

    def lower(self, partial: int) -> int:
        return partial


@pytest.mark.parametrize("given", [{"limit": None}, {"steps": ()}], ids=str)
def test_none_and_nothing_differ_from_a_default(given: dict[str, Any]) -> None:
    one, other = Limited("x"), Limited("x", **given)
    assert_refused(described(query(r=one)), described(query(r=other)))


class InSlots(Limited):
    """One parameter is in a slot."""

    __slots__ = ("weight",)

    def __init__(self, column: str, weight: int = 1) -> None:
        super().__init__(column)
        self.weight = weight


class Declared(Limited):
    """Each has a type of its own."""

    def __init__(self, column: str, kind: str = "bigint") -> None:
        super().__init__(column)
        self.returns = kind  # type: ignore[misc]


@pytest.mark.parametrize(
    ("one", "other"),
    [(InSlots("x"), InSlots("x", 2)), (Declared("x", "int"), Declared("x", "bigint"))],
    ids=["a slot", "returns"],
)
def test_parameters_in_slots_and_own_types_are_part_of_the_identity(one: Any, other: Any) -> None:
    assert repr(one) != repr(other)
    assert_refused(described(query(r=one)), described(query(r=other)))


def joined(left: pa.Schema = SCHEMA, right: pa.Schema = SCHEMA, **given: Any) -> Description:
    how: dict[str, Any] = {"within": "5 us", "on": wr.equi("k"), "time": "t", "how": "semi"}
    return wr.join(left.empty_table(), right.empty_table(), **{**how, **given})._identity()


@pytest.mark.parametrize(
    "given",
    [
        {"within": ("5 us", "6 us")},
        {"within": 5},
        {"on": wr.equi("k") & wr.band(x=1)},
        {"time": ("t", "x")},
        {"how": "anti"},
        {"layout": (2, 1)},
        {"partitions": 2},
        {"strategy": "handshake"},
    ],
    ids=str,
)
def test_every_parameter_of_a_join_is_part_of_the_identity(given: dict[str, Any]) -> None:
    assert_refused(joined(), joined(**given))


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize(
    ("name", "kind"), [("k", pa.binary()), ("x", pa.float64()), ("t", pa.timestamp("us"))]
)
def test_the_types_of_both_sides_are_part_of_the_identity(
    side: str, name: str, kind: pa.DataType
) -> None:
    on = wr.band(x=1) & wr.equi("y")
    other = SCHEMA.set(SCHEMA.get_field_index(name), pa.field(name, kind))
    given: dict[str, Any] = {side: other}
    if name == "t":
        given["time"] = "t"
    how = "inner" if name == "k" else "semi"
    assert_refused(joined(on=on, how=how), joined(on=on, how=how, **given))


def without(description: Description, part: str, *names: str) -> Description:
    return {**description, part: {n: v for n, v in description[part].items() if n not in names}}


def test_an_older_checkpoint_that_does_not_name_a_field_is_continued() -> None:
    delta = described(query(wr.DeltaWindow("x", 3, 1)))
    refuse_mismatch(without(delta, "window", "columns"), delta)
    fold = described(query().fold(max, 7, returns="r bigint"))
    refuse_mismatch(without(fold, "computation", "init"), fold)
    join = joined()
    refuse_mismatch({n: v for n, v in join.items() if n != "time_types"}, join)


def test_a_join_on_the_checkpoint_of_windows_is_told_in_one_line() -> None:
    for was, now, said in (
        (described(query()), joined(), "query: was a query over windows, is a join"),
        (joined(), described(query()), "query: was a join, is a query over windows"),
    ):
        with pytest.raises(wr.WindrowError) as raised:
            refuse_mismatch(was, now)
        assert raised.value.got == f"these differences:\n  {said}"
