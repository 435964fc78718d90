from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from pyarrow import csv, feather, orc, parquet

import windrow as wr
from windrow import functions as wf
from windrow.cli.__main__ import main
from windrow.cli.file_query import FileQuery

TRADES = pa.table(
    {
        "symbol": ["ACME", "EMCA", "ACME", "ACME", "EMCA", "ACME"],
        "ts": pa.array([1, 2, 2, 4, 7, None], pa.timestamp("s")),
        "seq": [0, 1, 2, 3, 4, 5],
        "price": [10.0, 50.0, 12.0, 11.0, 52.0, 13.0],
    }
)
BY_SYMBOL = ["--key", "symbol", "--time", "ts"]
MEANS = ["--window", "time 4 s", "--agg", "avg=mean(price)", "--agg", "n=count()"]


class Ran(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture
def windrow(capsys: pytest.CaptureFixture[str]) -> Callable[..., Ran]:
    """Runs the command in this process."""

    def run(*arguments: object) -> Ran:
        with pytest.raises(SystemExit) as exit:
            main([str(a) for a in arguments])
        return Ran(int(exit.value.code or 0), *capsys.readouterr())

    return run


@pytest.fixture
def trades(tmp_path: Path) -> Path:
    path = tmp_path / "trades.parquet"
    parquet.write_table(TRADES, path)
    return path


def expected() -> list[dict[str, Any]]:
    query = wr.stream(TRADES).key_by("symbol").event_time("ts").window(wr.TimeWindow("4 s"))
    results: list[dict[str, Any]] = (
        query.agg(avg=wf.mean("price"), n=wf.count()).ordered().collect().to_pylist()
    )
    assert [row["n"] for row in results] == [2, 1, 1, 1]
    return results


@pytest.mark.parametrize("read", ["parquet", "csv", "arrow", "orc"])
@pytest.mark.parametrize("write", ["parquet", "csv", "feather", "orc"])
def test_formats_follow_the_extensions(
    windrow: Callable[..., Ran], tmp_path: Path, read: str, write: str
) -> None:
    given, out = str(tmp_path / f"trades.{read}"), tmp_path / f"out.{write}"
    {
        "parquet": parquet.write_table,
        "csv": csv.write_csv,
        "arrow": feather.write_feather,
        "orc": orc.write_table,
    }[read](TRADES, given)
    ran = windrow("run", given, *BY_SYMBOL, *MEANS, "--ordered", "--out", out)
    assert ran.code == 0, ran.err
    found = ds.dataset(out, format="ipc" if write == "feather" else write).to_table()
    assert found.to_pylist() == expected()
    assert re.fullmatch(
        rf"4 windows in {re.escape(str(out))} after [\d.]+ s; "
        r"dropped for lack of a time or attribute: 1 of the rows\n",
        ran.err,
    )
    assert ran.out == ""


def test_a_table_is_printed_if_no_file_is_named(windrow: Callable[..., Ran], trades: Path) -> None:
    ran = windrow("run", trades, *BY_SYMBOL, *MEANS, "--ordered", "--limit", "2")
    head, first, _, last = ran.out.splitlines()
    assert head.split() == ["symbol", "window_id", "window_start", "window_end", "avg", "n"]
    assert first.split()[0] == "ACME"
    assert first.split()[-2:] == ["11", "2"]
    assert last == "... and 2 more: --limit shows more, --out writes all"
    assert "\x1b" not in ran.out + ran.err


def test_a_folder_is_read_as_its_files_are_named(
    windrow: Callable[..., Ran], tmp_path: Path
) -> None:
    for day, part in (("2026-01-05", TRADES.slice(0, 3)), ("2026-01-06", TRADES.slice(3))):
        (tmp_path / f"day={day}").mkdir()
        csv.write_csv(part, tmp_path / f"day={day}" / "trades.csv")
    ran = windrow("run", tmp_path, "-k", "day", "-w", "count 9", "-a", "n=count()", "--ordered")
    assert [line.split()[-1] for line in ran.out.splitlines()] == ["n", "3", "3"]


def test_several_files_may_be_compressed(windrow: Callable[..., Ran], tmp_path: Path) -> None:
    for name, part in (("a.csv.gz", TRADES.slice(0, 4)), ("b.csv.gz", TRADES.slice(4))):
        with pa.CompressedOutputStream(str(tmp_path / name), "gzip") as file:
            csv.write_csv(part, file)
    files = [tmp_path / "a.csv.gz", tmp_path / "b.csv.gz"]
    ran = windrow("run", *files, "-w", "count 9", "-a", "collect(seq)")
    assert "[0, 1, 2, 3, 4, 5]" in ran.out, ran.err


def test_json_is_read(windrow: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"x": 1}\n{"x": 2}\n')
    ran = windrow("run", tmp_path / "rows.jsonl", "-w", "count 9", "-a", "s=sum(x)")
    assert ran.out.split()[-1] == "3", ran.err


def test_order_and_open_windows_are_as_asked_for(
    windrow: Callable[..., Ran], trades: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    windows = ["-w", "count 2", "-a", "collect(seq)", "--open-windows", "drop", "--delay", "1 s"]
    windrow("run", trades, "-t", "ts", "--order-by", "price", *windows, "-o", out)
    assert parquet.read_table(out)["collect_seq"].to_pylist() == [[0, 2], [1, 3]]


def test_explain_says_what_run_would_do(windrow: Callable[..., Ran], trades: Path) -> None:
    ran = windrow("explain", trades, *BY_SYMBOL, *MEANS)
    assert ran.code == 0
    assert 'window   TimeWindow("4 s"), CF' in ran.out
    assert "runs     in this process" in ran.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["gone.parquet", *BY_SYMBOL, *MEANS], "file not found: 'gone.parquet'"),
        (
            ["{trades}", *MEANS],
            "needs an event time; got 'time 4 s'. Hint: name its column with --",
        ),
        (["{trades}", "-w", "count 5", "-a", "sum(pirce)"], "Hint: did you mean .*'price'"),
        (["{trades}", "-w", "cuont 5", "-a", "count()"], "did you mean .*'count'"),
        (["{trades}", "-w", "count 5", "-a", "summ(price)"], "did you mean sum"),
        (["{trades}", "-w", "count 5", "-a", "sum(symbol)"], "sum takes numeric columns"),
        (["{trades}", "-w", "count 5", "-a", "count()", "-k", "sybmol"], "did you mean"),
        (["{trades}", "-w", "count 5", "-a", "count()", "--format", "csv"], "cannot read csv|CSV"),
        (["{trades}", "-w", "count 5", "-a", "count()", "-o", "x.json"], "cannot write this form"),
        (["{trades}", "-w", "count 5", "-a", "count()", "-o", "x.csv.gz"], "cannot write this"),
        (["{trades}", "-w", "count 5", "-a", "count()", "-o", "{trades}"], "other than the input"),
        (["{trades}", "-w", "count 5", "-a", "count()", "-o", "no/x.csv"], "no such folder"),
        (["{trades}", "-w", "count 5", "-a", "ohlc(price)", "-o", "{here}/x.csv"], "CSV cannot"),
        (["{here}", "-w", "count 5", "-a", "count()", "--unit", "h"], "'h' is not one of"),
        (["{trades}", "-w", "count 5"], "--agg"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    windrow: Callable[..., Ran], trades: Path, arguments: list[str], said: str
) -> None:
    filled = [a.format(trades=trades, here=trades.parent) for a in arguments]
    ran = windrow("run", *filled)
    assert ran.code == 2
    assert ran.out == ""
    assert re.search(said, ran.err)
    assert [path.name for path in trades.parent.iterdir()] == ["trades.parquet"]
    last = ran.err.strip().splitlines()[-1]
    assert last.startswith("Error: ")
    assert re.search(said, last)


def test_the_progress_tells_all_rows(trades: Path) -> None:
    seen: list[int] = []
    query = FileQuery([str(trades)], "count 5", ["count()"]).query(seen.append)
    query.collect()
    assert sum(seen) == len(TRADES)
