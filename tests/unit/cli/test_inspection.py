from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

import windrow as wr
from tests.punctuated import PunctuatedWindow
from windrow import functions as wf
from windrow.cli.__main__ import main
from windrow.cli.inspection import _instant, described
from windrow.engine.state.identity import describe
from windrow.patterns import Pattern

ROWS = pa.table({"k": ["a"], "t": [0], "x": [1.0], "stop": [True]})
"""Rows that every model takes."""


@pytest.mark.parametrize(
    "model",
    [
        wr.CountWindow(10, 3),
        wr.TimeWindow("10 s", "2 s", origin="1 s"),
        wr.SlideByTupleWindow("1 min", 100),
        wr.SlideByTimeWindow(100, "1 min"),
        wr.DeltaWindow("x", 5, 0.5),
        wr.SessionWindow("30 min"),
        wr.LandmarkWindow("1 day", "1 h"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("pattern", [wr.WinSeq(), wr.KeyFarm(4)], ids=repr)
def test_a_query_is_described_as_it_was_written(model: wr.WindowModel, pattern: Pattern) -> None:
    query = wr.stream(ROWS).key_by("k").event_time("t", unit="ms").order_by("x").window(model)
    query = query.agg(n=wf.count(), high=wf.quantile("x", 0.9))
    stored = json.loads(json.dumps(describe(query.window_query(), pattern)))
    said = described(stored)
    assert said["window"] == repr(model)
    assert said["per key"] == "k (string)"
    assert said["event time"] == "t (bigint) in ms"
    assert said["order by"] == "x (double)"
    assert said["computation"] == "n=Count(), high=Quantile('x', q=0.9)"
    assert said["pattern"] == ("wr.WinSeq()" if pattern == wr.WinSeq() else "wr.KeyFarm(4)")


def test_what_has_no_words_is_shown_as_data() -> None:
    query = wr.stream(ROWS).window(PunctuatedWindow("stop"))
    query = query.apply(lambda w: {"n": len(w)}, "n int")
    stored = json.loads(json.dumps(describe(query.window_query(), wr.WinSeq())))
    said = described(stored)
    assert said["window"].startswith("PunctuatedWindow(")
    assert '"returns": "n int"' in said["computation"]
    assert described({"within": {"left": 5}, "how": "inner"}) == {
        "within": '{"left": 5}',
        "how": '"inner"',
    }


def test_a_watermark_is_a_time() -> None:
    assert _instant(1_767_605_400_500_000) == "2026-01-05 09:30:00.500000+00:00"
    assert _instant(None) == "none yet"
    assert _instant(2**62) == f"{2**62:,} us since 1970"


def test_a_folder_that_is_no_checkpoint_is_told_before_spark_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "trend" / "commits").mkdir(parents=True)
    for location, said in [
        (tmp_path / "nowhere", f"got no folder at '{tmp_path}/nowhere'."),
        (tmp_path, f"it has these checkpoints in it: ['{tmp_path}/trend']."),
    ]:
        with pytest.raises(SystemExit, match="2"):
            main(["inspect", str(location)])
        assert said in " ".join(capsys.readouterr().err.split())
