"""How a choice is explained: as a tree of plans, and as data."""

from __future__ import annotations

import json
from typing import Any
from xml.etree.ElementTree import fromstring

import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.patterns.windows import window_stages
from windrow.planner.choice import choose
from windrow.planner.decision import Decision
from windrow.planner.picture import as_svg
from windrow.planner.plans import Resources

TABLE = pa.table({"k": ["a"], "t": [1], "x": [1.0]})
SLIDING: Any = wr.stream(TABLE).key_by("k").event_time("t").window(wr.TimeWindow("1 s", "10 ms"))
WHOLE = SLIDING.apply(lambda w: {"n": len(w)}, "n bigint")


def decide(query: Any, cores: int = 2) -> Decision:
    complete, resources = query.window_query(), Resources(cores)
    choice = choose(complete, resources)
    return Decision(complete, choice, window_stages(complete, choice.pattern), resources, "here")


def test_the_tree_shows_the_chosen_plan_and_each_rejected_one_with_a_reason() -> None:
    text = decide(WHOLE.hint(keys=1, rate=1_000_000, cost="20 ms")).explain_cost()
    text, _, scaling = text.partition("\non other numbers of cores\n")
    chosen, known, on, _, *plans = text.split("\n")
    assert chosen.startswith("chosen   WinFarm(n=2")
    assert "predicted to be the fastest of 7 plans" in chosen
    assert known == "known    keys 1, rate 1e+06, cost 20000"
    assert on == "on       2 cores, bounded input"
    assert [line.split()[0] for line in scaling.split("\n")] == ["4", "64", "1024"]
    names, reasons = plans[::2], plans[1::2]
    assert [name[:4] for name in names] == ["  * ", *["  - "] * 6]
    assert all("M rows/s, " in reason and " x the time, holds " in reason for reason in reasons)
    farm = names.index("  - KeyFarm(n=2, inner=WinSeq(), level=2)")
    assert "the busiest of 2 workers has 100% of the work" in reasons[farm]


def test_without_statistics_the_tree_says_that_rules_choose() -> None:
    text = decide(WHOLE).explain_cost()
    assert "rules choose, and predictions assume ordinary rows; see hint()" in text
    assert "\n  * KeyFarm(n=2, inner=WinSeq(), level=2)\n" in text


def test_a_given_pattern_is_compared_with_the_others(capsys: Any) -> None:
    WHOLE.using(wr.WinFarm(3)).explain("cost")
    printed = capsys.readouterr().out
    assert printed.startswith("chosen   WinFarm(n=3, inner=WinSeq(), workers='active', batch=1")
    assert "\n  - WinSeq()\n" in printed


def test_the_decision_is_also_data_with_a_version(capsys: Any) -> None:
    SLIDING.agg(s=wf.sum("x")).hint(keys=10).explain("json")
    data = json.loads(capsys.readouterr().out)
    assert data["version"] == 1
    assert data["keys"] == ["k"]
    assert data["pattern"] == "WinSeq()"
    assert data["statistics"] == {"keys": 10}
    assert data["compute"] == "s=Sum('x')"
    assert [plan["is_chosen"] for plan in data["plans"]] == [True]
    assert data["plans"][0]["rows_per_second"] > 0


def test_the_default_mode_is_the_simple_one(capsys: Any) -> None:
    query = SLIDING.agg(s=wf.sum("x"))
    query.explain()
    simple = capsys.readouterr().out
    query.explain("simple")
    assert capsys.readouterr().out == simple
    assert simple.startswith("window   TimeWindow(")


def test_other_modes_are_refused() -> None:
    with pytest.raises(wr.WindrowError, match='mode must be "simple", "spark", "cost" or "json"'):
        SLIDING.agg(s=wf.sum("x")).explain("long")


def test_a_notebook_shows_the_plans_as_bars() -> None:
    decision = decide(WHOLE.hint(keys=1, rate=1_000_000, cost="20 ms"))
    root = fromstring(as_svg(decision.predictions()))
    bars = root.findall(".//{*}rect")
    widths = [int(bar.attrib["width"]) for bar in bars]
    assert len(bars) == 7
    assert [bar.attrib["fill"] for bar in bars[:2]] == ["#2a7de1", "#b8c4d0"]
    assert widths[1:] == sorted(widths[1:], reverse=True)
    titles = [title.text for title in root.findall(".//{*}title")]
    assert "one worker computes windows" in titles


def test_a_notebook_shows_what_runs_once_the_query_is_complete() -> None:
    assert SLIDING._repr_html_() is None
    shown = SLIDING.agg(s=wf.sum("x"))._repr_html_()
    assert shown.startswith("<pre>window   TimeWindow(")
    assert "s=Sum(&#x27;x&#x27;)" in shown
    assert "<svg" in shown


def test_more_cores_are_predicted_to_help_only_as_far_as_keys_and_windows_allow() -> None:
    by_keys = SLIDING.agg(m=wf.median("x")).hint(keys=10_000, rate=10_000_000)
    uniform = decide(by_keys.hint(cost="1 ms")).scaling()
    assert uniform[64].rows_per_second > 8 * uniform[4].rows_per_second
    one = decide(SLIDING.agg(m=wf.median("x")).hint(keys=1, rate=10_000)).scaling()
    assert one[1024].rows_per_second < 2 * one[4].rows_per_second
