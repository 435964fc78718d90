"""Every public call with a wrong argument is refused with a WindrowError, or means something.

``ACCEPTED`` is the whole list of the odd values that mean something. All others are refused while
the query is built, whatever is wrong with them.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import math
import pickle
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

import windrow as wr
from windrow import functions as wf

ODD: dict[str, Any] = {
    "None": None,
    "True": True,
    "0": 0,
    "-1": -1,
    "3": 3,
    "np 2": np.int64(2),
    "2.5": 2.5,
    "nan": math.nan,
    "inf": math.inf,
    "huge": 2**80,
    "no text": "",
    "unknown": "nope",
    "not ASCII": "größe",
    "bytes": b"x",
    "list": [],
    "tuple": (),
    "dict": {},
    "array": np.array([1, 2]),
    "no time": timedelta(0),
    "NaT": np.timedelta64("NaT"),
    "function": len,
    "type": int,
    "object": object(),
}
TABLE = {
    "k": ["a", "b"],
    "ts": np.array([0, 1], "M8[us]"),
    "t": [0, 1],
    "x": [1.0, 2.0],
    "y": [3.0, 4.0],
    "i": [1, 2],
}
SOURCE: Any = wr.stream(TABLE).key_by("k").event_time("ts")
WINDOWS: Any = SOURCE.window(wr.CountWindow(2))
COUNTED: Any = WINDOWS.agg(n=wf.count())


def update(acc: Any, row: Any) -> Any:
    return acc


def above(left: Any, right: Any) -> Any:
    return left["x"] > right["x"]


def join(**given: Any) -> wr.Join:
    sides = given.pop("left", TABLE), given.pop("right", TABLE)
    return wr.join(*sides, **{"within": "1 s", "on": wr.equi("k"), "time": "ts", **given})


def aggregating(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, used in a query: it may be given expressions, which only the query checks."""

    def aggregated(**given: Any) -> Any:
        columns = [given.pop("columns")] if "columns" in given else []
        return WINDOWS.agg(v=function(*columns, **given))

    return aggregated


GOOD: dict[str, Any] = {
    "columns": "x", "column": "x", "value": "x", "x": "x", "y": "y", "by": "y",
    "q": 0.5, "k": 2, "degree": 1, "ignore_nulls": False, "maximise": False,
}  # fmt: skip
FUNCTIONS = {
    name: (
        aggregating(getattr(wf, name)),
        {p: GOOD[p] for p in inspect.signature(getattr(wf, name)).parameters},
    )
    for name in wf.__all__
}
LINE, ROUND = wr.WinSeq(), {"partial_returns": "n int", "returns": "n int"}
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    **FUNCTIONS,
    "CountWindow": (wr.CountWindow, {"length": 2, "slide": 1}),
    "TimeWindow": (wr.TimeWindow, {"length": "2 s", "slide": "1 s", "origin": 0}),
    "SlideByTupleWindow": (wr.SlideByTupleWindow, {"length": "2 s", "slide": 1}),
    "SlideByTimeWindow": (wr.SlideByTimeWindow, {"length": 2, "slide": "1 s", "origin": 0}),
    "SessionWindow": (wr.SessionWindow, {"gap": "1 s"}),
    "LandmarkWindow": (wr.LandmarkWindow, {"every": "2 s", "slide": "1 s", "origin": 0}),
    "DeltaWindow": (
        lambda **given: SOURCE.window(wr.DeltaWindow(**given)),
        {"on": "x", "length": 2, "slide": 1},
    ),
    "KeyFarm": (wr.KeyFarm, {"n": 2, "inner": LINE, "level": 0}),
    "WinFarm": (wr.WinFarm, {"n": 2, "inner": LINE, "workers": "active", "batch": 1, "level": 0}),
    "PaneFarm": (wr.PaneFarm, {"plq": 2, "wlq": 2, "level": 0}),
    "WinMapReduce": (wr.WinMapReduce, {"map": 2, "reduce": 2, "level": 0}),
    "stream": (wr.stream, {"data": TABLE}),
    "a column of stream": (lambda values: wr.stream({"a": values}), {"values": [1]}),
    "key_by": (lambda column: SOURCE.key_by(column), {"column": "k"}),
    "event_time": (
        SOURCE.event_time,
        {"column": "t", "delay": 0, "idle_timeout": None, "unit": "us"},
    ),
    "order_by": (lambda column: SOURCE.order_by(column), {"column": "i"}),
    "window": (SOURCE.window, {"model": wr.CountWindow(2), "open_windows": "emit"}),
    "agg": (lambda function: WINDOWS.agg(f=function), {"function": wf.count()}),
    "apply": (WINDOWS.apply, {"function": len, "returns": "n int"}),
    "fold": (WINDOWS.fold, {"update": update, "returns": "n int", "init": 0}),
    "decompose": (WINDOWS.decompose, {"partial": len, "combine": len, **ROUND}),
    "decompose in rounds": (
        WINDOWS.decompose,
        {
            "partial": [len, update],
            "combine": [len, len],
            "partial_returns": ["n int"] * 2,
            "returns": "n int",
        },
    ),
    "using": (COUNTED.using, {"pattern": LINE}),
    "hint": (COUNTED.hint, {"keys": 10, "skew": 0.5, "rate": 1000, "cost": "20 us"}),
    "explain": (COUNTED.explain, {"mode": "simple"}),
    "tune": (wr.tune, {"query": COUNTED, "sample": TABLE}),
    "join": (
        join,
        {
            "left": TABLE, "right": TABLE, "within": "1 s", "on": wr.equi("k"), "time": "ts",
            "delay": 0, "how": "inner", "layout": None, "degree": None, "partitions": None,
            "strategy": "grid", "rates": None, "prefixes": ("l_", "r_"),
        },
    ),
    "one side of join": (
        lambda **given: join(**{name: (value, good(name)) for name, value in given.items()}),
        {"within": "1 s", "time": "ts", "prefixes": "l_", "rates": 1, "layout": 1},
    ),
    "band": (lambda extent: join(on=wr.band(x=extent)), {"extent": 1}),
    "one side of band": (lambda extent: join(on=wr.band(x=(extent, 1))), {"extent": 1}),
    "names of band": (lambda pair: join(on=wr.band(pair, 1)), {"pair": ("x", "y")}),
    "a name of band": (lambda name: join(on=wr.band((name, "x"), 1)), {"name": "x"}),
    "equi": (lambda column: join(on=wr.equi(column)), {"column": "k"}),
    "a name of equi": (lambda name: join(on=wr.equi((name, "k"))), {"name": "k"}),
    "theta": (lambda function: join(on=wr.theta(function)), {"function": above}),
    "and": (lambda other: wr.equi("k") & other, {"other": wr.equi("k")}),
}  # fmt: skip


def good(name: str) -> Any:
    """What the right side of a join may have."""
    return {"within": "1 s", "time": "ts", "prefixes": "r_", "rates": 1, "layout": 1}[name]


COUNT, DURATION = {"3", "np 2"}, {"3", "np 2"}
INSTANT = {"0", "-1", "3", "np 2", "no time"}
LEVEL = {"0", "np 2"}
ACCEPTED: dict[str, dict[str, set[str]]] = {
    "count": {"column": {"None"}},
    "first": {"ignore_nulls": {"True"}},
    "last": {"ignore_nulls": {"True"}},
    "polynomial_fit": {"degree": {"0", *COUNT}},
    "quantile": {"q": {"0"}},
    "skyline": {"maximise": {"True"}},
    "top_k": {"k": COUNT, "by": {"None"}},
    "CountWindow": {"length": COUNT, "slide": {"None", *COUNT}},
    "TimeWindow": {"length": DURATION, "slide": {"None", *DURATION}, "origin": INSTANT},
    "SlideByTupleWindow": {"length": DURATION, "slide": COUNT},
    "SlideByTimeWindow": {"length": COUNT, "slide": DURATION, "origin": INSTANT},
    "SessionWindow": {"gap": DURATION},
    "LandmarkWindow": {"slide": {"np 2"}, "origin": INSTANT},
    "DeltaWindow": {"length": {"2.5", *COUNT}, "slide": {"2.5", *COUNT}},
    "KeyFarm": {"n": COUNT, "level": LEVEL},
    "WinFarm": {"n": COUNT, "batch": COUNT, "level": LEVEL},
    "PaneFarm": {"plq": COUNT, "wlq": COUNT, "level": LEVEL},
    "WinMapReduce": {"map": COUNT, "reduce": COUNT, "level": LEVEL},
    "a column of stream": {"values": {"list", "tuple", "array"}},
    "event_time": {"delay": {"0", "no time", *DURATION}, "idle_timeout": {"None", *DURATION}},
    "apply": {"function": {"function", "type"}},
    "fold": {"update": {"type"}, "init": set(ODD)},
    "decompose": {"partial": {"function", "type"}, "combine": {"function", "type"}},
    "hint": {
        "keys": {"None", *COUNT},
        "skew": {"None"},
        "rate": {"None", "2.5", "huge", *COUNT},
        "cost": {"None", *DURATION},
    },
    "tune": {"sample": {"None"}},
    "join": {
        "within": COUNT,
        "delay": {"0", "no time", *DURATION},
        "layout": {"None"},
        "degree": {"None", *COUNT},
        "partitions": {"None", *COUNT},
        "rates": {"None"},
    },
    "one side of join": {
        "prefixes": {"no text", "unknown", "not ASCII"},
        "rates": {"2.5", "huge", *COUNT},
        "layout": COUNT,
    },
    "band": {"extent": {"0", "2.5", "inf", "huge", *COUNT}},
    "one side of band": {"extent": {"0", "-1", "2.5", "inf", "huge", *COUNT}},
    "theta": {"function": {"type"}},
}


@pytest.mark.parametrize("name", CALLS)
def test_an_odd_argument_is_refused_or_means_something(name: str) -> None:
    call, arguments = CALLS[name]
    call(**arguments)
    accepted: dict[str, set[str]] = {}
    for argument in arguments:
        for label, value in ODD.items():
            try:
                call(**{**arguments, argument: value})
            except wr.WindrowError as e:
                assert e.rule, (argument, label)
                assert e.got or e.hint, (argument, label, e.rule)
            else:
                accepted.setdefault(argument, set()).add(label)
    assert accepted == ACCEPTED.get(name, {})


CHECKED: dict[str, Callable[..., Any]] = {
    **{name: getattr(wf, name) for name in wf.__all__},
    **{
        name: getattr(wr, name)
        for name in (
            "stream",
            "scan",
            "scan_stream",
            "join",
            "equi",
            "theta",
            "band",
            "local_spark",
            "configure",
            "tune",
            "CountWindow",
            "TimeWindow",
            "SlideByTupleWindow",
            "SlideByTimeWindow",
            "SessionWindow",
            "LandmarkWindow",
            "DeltaWindow",
            "WinSeq",
            "KeyFarm",
            "WinFarm",
            "PaneFarm",
            "WinMapReduce",
        )
    },
    **{
        name: getattr(COUNTED, name)
        for name in (
            "event_time",
            "window",
            "apply",
            "fold",
            "decompose",
            "using",
            "hint",
            "ordered",
        )
    },
    **{
        f"Query.{name}": getattr(COUNTED, name)
        for name in ("collect", "to_df", "explain", "check_checkpoint", "hint_from")
    },
    **{
        f"Join.{name}": getattr(join(), name)
        for name in ("collect", "to_df", "explain", "check_checkpoint")
    },
}


@pytest.mark.parametrize("name", CHECKED)
def test_missing_superfluous_and_unknown_arguments_are_refused(name: str) -> None:
    call = CHECKED[name]
    parameters = inspect.signature(call).parameters.values()
    if any(p.default is p.empty and p.kind is not p.VAR_KEYWORD for p in parameters):
        with pytest.raises(wr.WindrowError):
            call()
    with pytest.raises(wr.WindrowError):
        call(*"abcdefgh", wrong=1)
    if name != "band":  # its keywords are columns
        with pytest.raises(wr.WindrowError):
            call(wrong=1)


@pytest.mark.parametrize(
    "made",
    [wr.TimeWindow("2 s", "1 s"), wr.DeltaWindow("x", 2, 1), wr.KeyFarm(2, wr.PaneFarm(2, 1))],
    ids=repr,
)
def test_models_and_patterns_stay_ordinary_dataclasses(made: Any) -> None:
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    assert dataclasses.replace(made) == made and hash(dataclasses.replace(made)) == hash(made)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(made, dataclasses.fields(made)[0].name, 3)


any_wr: Any = wr
any_wf: Any = wf


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: any_wr.TimeWindow(),
            r"TimeWindow is called as TimeWindow\(length, slide=None, origin=0\); got a call with a"
            r" missing argument: 'length'",
        ),
        (
            lambda: any_wr.CountWindow(2, slid=1),
            "unexpected keyword argument 'slid'.*did you mean one of these arguments: .'slide'",
        ),
        (lambda: any_wr.CountWindow(size=3), "an unexpected keyword argument|a missing argument"),
        (lambda: any_wr.DeltaWindow("x"), "got a call with a missing argument: 'length'"),
        (
            lambda: any_wr.KeyFarm(),
            r"KeyFarm\(n, inner=WinSeq\(\), \*, level=2, hot_keys=\(\), hot=None\); got .* 'n'",
        ),
        (lambda: any_wr.WinSeq(2), r"WinSeq is called as WinSeq\(\); got a call with too many"),
        (lambda: any_wf.sum(), r"called as sum\(column\); got a call with a missing argument"),
        (lambda: any_wf.sum("x", "y"), "got a call with too many positional arguments"),
        (lambda: any_wf.top_k("x", count=2), r"top_k\(column, k, by=None\); got a call with"),
        (lambda: any_wf.quantile("x", Q=0.5), "did you mean one of these arguments: .'q'."),
        (lambda: WINDOWS.agg(wf.sum("x")), r"agg takes functions by result name; got Sum\('x'\)"),
        (lambda: WINDOWS.agg({}), "agg takes functions by result name; got {}"),
        (lambda: WINDOWS.agg(), "agg needs a function"),
        (lambda: WINDOWS.decompose(), r"decompose is called as decompose\(\*, partial, combine"),
        (lambda: SOURCE.event_time("t", dely=3), "did you mean one of these arguments: .'delay'"),
        (lambda: wr.stream({}), "a stream needs a column"),
        (lambda: wr.stream({"a": "text"}), "column 'a' must be an array or a list of values"),
        (lambda: join(on={}), "on must be a predicate; got on={}"),
        (lambda: wr.band(), "band needs a column"),
        (lambda: wr.equi(), "equi needs a column"),
        (lambda: wr.KeyFarm(10**6), "n must be at most 65,536 workers; got n=1000000"),
        (lambda: WINDOWS.apply(update, "n int"), r"called with 1 argument; got update\(acc"),
        (lambda: any_wr.theta(lambda pair: True), "two blocks, called with 2 arguments"),
        (lambda: wr.local_spark(cores=0), "cores must be a positive number of cores"),
        (lambda: wr.local_spark(cors=2), "takes cores and settings of Spark: 'cors' is neither"),
        (lambda: wr.local_spark(spark__x=None), "a setting of Spark needs a value"),
        (lambda: COUNTED.check_checkpoint(any_wr), "location must be a path; got location="),
        (lambda: any_wr.configure(None), "configure takes a Spark session; got None"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_call_is_said(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(wr.WindrowError, match=f"(?s){message}"):
        call()


def test_a_result_may_have_any_name() -> None:
    names = {
        "self": wf.count(),
        "unnamed": wf.count(),
        "functions": wf.count(),
        "größe, m": wf.count(),
    }
    assert WINDOWS.agg(**names).collect().column_names[-4:] == list(names)


def test_a_key_farm_needs_keys_when_it_runs() -> None:
    farmed = wr.stream(TABLE).window(wr.CountWindow(2)).agg(n=wf.count()).using(wr.KeyFarm(2))
    for run in (farmed.collect, farmed.to_df, farmed.explain):
        with pytest.raises(wr.WindrowError, match=r"the query has no keys; got KeyFarm\(2\)"):
            run()
    assert len(farmed.key_by("k").collect()) == 2


SPECIAL = ["a,b", "a:b", "a.b", "a`b", "a b", " a ", "a<b>", "größe", "`", "a(b", "1", "select"]


def test_fields_may_have_any_name() -> None:
    table = {name: [1.0, 2.0] for name in SPECIAL}
    query = wr.stream(table).window(wr.CountWindow(2))
    (points,) = query.agg(best=wf.skyline(*SPECIAL)).collect()["best"].to_pylist()
    assert points == [dict.fromkeys(SPECIAL, 1.0)]
    (bar,) = query.agg(bar=wf.ohlc("a,b")).collect()["bar"].to_pylist()
    assert bar == {"open": 1.0, "high": 2.0, "low": 1.0, "close": 2.0}
    declared = ", ".join(f"`{name.replace('`', '``')}` double" for name in SPECIAL)
    applied = query.apply(lambda w: {name: w[name][0] for name in SPECIAL}, declared).collect()
    assert applied.column_names[-len(SPECIAL) :] == SPECIAL
    again = {"point": [points[0], points[0]]}
    latest = wr.stream(again).window(wr.CountWindow(2)).agg(last=wf.last("point")).collect()
    assert latest["last"].to_pylist() == points
