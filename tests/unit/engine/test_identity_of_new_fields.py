"""A class of a user's own gains a parameter with a default, and its checkpoints are continued."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pytest

import windrow as wr
from windrow.engine.joins.candidates import Candidates
from windrow.engine.state.identity import describe
from windrow.engine.state.mismatch import refuse_mismatch
from windrow.patterns import Pattern

TABLE = pa.table({"t": [1], "flag": [True]})
Description = dict[str, Any]


def model(**own: Any) -> Any:
    """A model of a user's own with a flag and these further fields, each with its default."""
    lists = {name: field(default_factory=v.copy) for name, v in own.items() if type(v) is list}
    made: dict[str, Any] = {
        "__annotations__": {"flag": str, **{name: type(v) for name, v in own.items()}},
        "__qualname__": "Windows",
        "context": wr.Context.FCA,
        "axis": wr.Axis.RANK,
        "needs_event_time": False,
        "ranks_tuples": True,
        **own,
        **lists,
    }
    return dataclass(frozen=True)(type("Windows", (wr.WindowModel,), made))


def described(model: wr.WindowModel, pattern: Pattern | None = None) -> Description:
    """As a header gives it back."""
    query = wr.stream(TABLE).window(model).apply(lambda w: {"n": len(w)}, "n bigint")
    found: Description = json.loads(
        json.dumps(describe(query.window_query(), pattern or wr.WinSeq()))
    )
    return found


def in_version_2(description: Description) -> Description:
    """Version 2 did not tell the defaults."""
    return {name: part for name, part in description.items() if name != "defaults"}


def refused(was: Description, now: Description) -> str:
    with pytest.raises(wr.WindrowError) as raised:
        refuse_mismatch(was, now)
    return str(raised.value)


@pytest.mark.parametrize("default", [5, None, "x", [1, 2], []], ids=str)
def test_a_model_with_a_new_field_continues_with_its_default(default: Any) -> None:
    was, now = described(model()("flag")), described(model(most=default)("flag"))
    for stored in (was, in_version_2(was)):
        refuse_mismatch(stored, now)
        refuse_mismatch(now, stored)


@pytest.mark.parametrize(
    ("default", "given"), [(5, 6), (5, None), (None, 5), ([1, 2], [1]), ([1], []), ([], [1])]
)
def test_any_other_value_of_the_new_field_is_refused(default: Any, given: Any) -> None:
    was = described(model()("flag"))
    other = described(model(most=default)("flag", given))
    for stored in (was, in_version_2(was)):
        assert "window.most: was" in refused(stored, other)
        assert "window.most: was" in refused(other, stored)


def test_a_default_that_changes_is_another_query() -> None:
    for was in (described(model(most=5)("flag")), in_version_2(described(model(most=5)("flag")))):
        now = described(model(most=7)("flag"))
        assert "window.most: was 5, is 7" in refused(was, now)
        refuse_mismatch(was, described(model(most=7)("flag", 5)))


@dataclass(frozen=True)
class Slow(wr.WinFarm):
    pace: int = 3


@pytest.mark.parametrize("inner", [False, True])
def test_so_does_a_pattern_with_a_new_field(inner: bool) -> None:
    def pattern(**given: Any) -> Any:
        return wr.KeyFarm(2, wr.PaneFarm(2, 1, **given)) if inner else Slow(2, **given)

    counted = wr.stream(TABLE).window(wr.CountWindow(4, 2)).agg(n=wr.functions.count())
    now = describe(counted.window_query(), pattern())
    name = "level" if inner else "pace"
    was = json.loads(json.dumps(now))
    del (was["pattern"]["inner"] if inner else was["pattern"])[name]
    del was["defaults"]
    refuse_mismatch(was, now)
    if not inner:
        assert "pattern.pace: was 3, is 4" in refused(
            was, describe(counted.window_query(), pattern(pace=4))
        )


def term(**own: Any) -> Any:
    def columns(self: Any, side: int) -> tuple[str, ...]:
        return ("flag",)

    def words(self: Any) -> str:
        return "flags"

    def verify(self: Any, left: Candidates, right: Candidates) -> Any:
        raise NotImplementedError

    made: dict[str, Any] = {
        "__annotations__": {name: type(v) for name, v in own.items()},
        "columns": columns,
        "describe": words,
        "verify": verify,
        **{name: field(default_factory=v.copy) for name, v in own.items() if type(v) is list},
        **{name: v for name, v in own.items() if type(v) is not list},
    }
    return dataclass(frozen=True)(type("Flags", (wr.Term,), made))


@pytest.mark.parametrize(("default", "other"), [(5, 6), ([1], []), (None, 1)], ids=str)
def test_so_does_a_term_with_a_new_field(default: Any, other: Any) -> None:
    def joined(term: wr.Term) -> Description:
        return wr.join(TABLE, TABLE, within="5 us", on=term, time="t", how="semi")._identity()

    refuse_mismatch(joined(term()()), joined(term(most=default)()))
    assert "most: was" in refused(joined(term()()), joined(term(most=default)(other)))


def test_so_does_an_aggregate_with_a_new_parameter() -> None:
    class Longest(wr.Aggregate[int, int, int]):
        def lift(self, value: int) -> int:
            return value

        def combine(self, a: int, b: int) -> int:
            return a + b

        def lower(self, partial: int) -> int:
            return partial

    class WithMost(Longest):
        def __init__(self, column: str, most: int = 5) -> None:
            super().__init__(column)
            self.most = most

    WithMost.__qualname__ = Longest.__qualname__

    def aggregated(function: Any) -> Description:
        query = wr.stream(TABLE).window(wr.CountWindow(4)).agg(r=function)
        return describe(query.window_query(), wr.WinSeq())

    refuse_mismatch(aggregated(Longest("t")), aggregated(WithMost("t")))
    assert "most: was" in refused(aggregated(Longest("t")), aggregated(WithMost("t", 6)))
