"""`windrow bench` compares results before it times queries."""

from __future__ import annotations

from dataclasses import replace

import pytest
from typer.testing import CliRunner

import windrow as wr
from windrow.cli.app import app
from windrow.cli.bench import check_same
from windrow.cli.bench_queries import QUERIES, BenchQuery, ticks


def test_a_line_for_each_query_says_its_rows_per_second() -> None:
    found = CliRunner().invoke(app, ["bench", "--no-spark", "--rows", "2000"])
    assert found.exit_code == 0, found.output
    rows, head, *lines = found.stdout.splitlines()
    assert rows.startswith("2,000 rows in a file")
    assert head.split() == ["window", "in", "process"]
    for query, line in zip(QUERIES, lines, strict=True):
        rate, unit = line.removeprefix(query.name).split()
        assert float(rate) > 0
        assert unit == "M"


def test_without_java_spark_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/no/java")
    found = CliRunner().invoke(app, ["bench", "--rows", "1000"])
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("Spark is left out: see windrow check")


@pytest.mark.parametrize("query", QUERIES, ids=lambda q: q.name)
def test_wrong_results_are_an_error(query: BenchQuery) -> None:
    rows = ticks(2000 if query.least == 1 else 120_000)
    wanted = query.over(wr.stream(rows)).collect()
    check_same(query, "in process", wanted, wanted)
    assert len(query.compared(wanted)) > 0
    fewer = query.over(wr.stream(rows.slice(1))).collect()
    with pytest.raises(wr.WindrowError, match=r"results of '.*' in process are wrong"):
        check_same(query, "in process", fewer, wanted)
    other = replace(query, functions={**query.functions, "n": wr.functions.sum("x")})
    with pytest.raises(wr.WindrowError, match="are wrong"):
        check_same(query, "in process", other.over(wr.stream(rows)).collect(), wanted)
