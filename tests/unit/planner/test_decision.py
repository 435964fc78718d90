"""How a choice is explained: as a tree of plans, and as data."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import fromstring

import pyarrow as pa
import pytest

import windrow as wr
from windrow import functions as wf
from windrow.patterns.windows import window_stages
from windrow.planner.alternatives import rejection
from windrow.planner.choice import choose, weigh
from windrow.planner.decision import Decision
from windrow.planner.load import BATCH_SECONDS
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
    assert chosen.startswith("chosen   WinFarm(2")
    assert "predicted to be the fastest of 5 plans" in chosen
    assert known == "known    keys 1, rate 1e+06, cost 20000"
    assert on == "on       2 cores, bounded input"
    assert [line.split()[0] for line in scaling.split("\n")] == ["4", "64", "1024"]
    assert plans[0] == "├─ WinFarm"
    assert plans[1] == "│  ├─ * WinFarm(2)"
    predicted = [line for line in plans if " latency, " in line]
    assert len(predicted) == 5
    assert all(" M rows/s, " in line and line.endswith(" held") for line in predicted)
    sentences = [plans[plans.index(line) + 1].strip("│ ") for line in predicted]
    assert sentences[0].startswith("Predicted to be the fastest of 5 plans")
    assert all(s.startswith("It would take ") and s.endswith(".") for s in sentences[1:])
    farm = plans.index(next(line for line in plans if line.endswith("KeyFarm(2)")))
    assert "the busiest of 2 workers has 100% of the work" in plans[farm + 2]


@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        (0.5, "It would take 0.50 times as long, but another plan was given."),
        (0.95, "It would take 0.95 times as long, which is too little gain for a change."),
        (1.02, "It would take as long, and the chosen plan is simpler."),
        (2.0, "It would take 2.00 times as long: one worker computes windows."),
    ],
)
def test_each_rejected_plan_has_a_sentence(times: float, sentence: str) -> None:
    chosen = decide(WHOLE.hint(keys=10)).predictions()[0]
    other = replace(chosen, seconds=times * chosen.seconds, limit="one worker computes windows")
    assert rejection(other, chosen) == sentence


def test_a_window_waits_for_half_a_batch_of_a_stream() -> None:
    complete = WHOLE.hint(keys=100, rate=1000).window_query()
    bounded, stream = (
        weigh(complete, Resources(2, is_stream=is_stream))[0] for is_stream in (False, True)
    )
    assert bounded.latency == bounded.seconds
    assert stream.latency == pytest.approx(stream.seconds + max(BATCH_SECONDS, stream.seconds) / 2)


def test_held_rows_take_as_much_memory_as_their_columns() -> None:
    found = decide(WHOLE.hint(keys=10, rate=100_000)).predictions()[0]
    # A key, a time, a value, and two columns of Windrow's own; strings are taken to be short.
    assert found.bytes == found.held * (32 + 8 + 8 + 16)


def test_without_statistics_the_tree_says_that_rules_choose() -> None:
    text = decide(WHOLE).explain_cost()
    assert "rules choose, and predictions assume ordinary rows; see hint()" in text
    assert "─ * WinFarm(2)\n" in text


def test_a_given_pattern_is_compared_with_the_others(capsys: Any) -> None:
    WHOLE.using(wr.WinFarm(3)).explain("cost")
    printed = capsys.readouterr().out
    assert printed.startswith("chosen   WinFarm(3)")
    assert "─ WinSeq()\n" in printed


def test_the_decision_is_also_data_with_a_version(capsys: Any) -> None:
    SLIDING.agg(s=wf.sum("x")).hint(keys=10).explain("json")
    data = json.loads(capsys.readouterr().out)
    assert data["version"] == 1
    assert data["keys"] == ["k"]
    assert data["pattern"] == "WinSeq()"
    assert data["statistics"] == {"keys": 10, "rows": len(TABLE)}
    assert data["compute"] == "s=Sum('x')"
    assert [plan["is_chosen"] for plan in data["plans"]] == [True]
    assert {"latency", "bytes", "sentence"} <= data["plans"][0].keys()
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


def test_a_notebook_shows_the_plans_as_a_tree_with_bars() -> None:
    decision = decide(WHOLE.hint(keys=1, rate=1_000_000, cost="20 ms"))
    root = fromstring(as_svg(decision))
    bars = root.findall(".//{*}rect")
    widths = [int(bar.attrib["width"]) for bar in bars]
    assert len(bars) == 5
    assert [bar.attrib["fill"] for bar in bars[:2]] == ["#2a7de1", "#b8c4d0"]
    titles = [title.text or "" for title in root.findall(".//{*}title")]
    assert widths[0] == max(widths)
    assert sum("one worker computes windows." in title for title in titles) == 1
    texts = [text.text for text in root.findall(".//{*}text")]
    assert {"WinSeq", "KeyFarm", "WinFarm"} <= set(texts)
    assert len(root.findall(".//{*}path")) == len(texts) + 1


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
    assert one[1024].rows_per_second < 3 * one[4].rows_per_second
