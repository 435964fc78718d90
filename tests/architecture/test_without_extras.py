"""Everything but Spark runs without the packages of the extras."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HIDDEN = """
import importlib.util
import sys

HIDDEN = {
    "pyspark", "pandas", "google", "typer", "rich", "matplotlib", "plotext",
    "prometheus_client", "opentelemetry",
}


class Hider:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Hider())
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name in HIDDEN else real(name)
"""

QUERIES = """
import pyarrow as pa, pyarrow.dataset as ds, pyarrow.parquet as pq
import windrow as wr
from windrow import functions as wf

rows = pa.table({"k": [1, 1, 2], "t": [1, 2, 3], "x": [1.0, 2.0, 3.0]})
pq.write_table(rows, "rows.parquet")
for data in (wr.stream(rows), wr.scan("rows.parquet"), wr.stream(ds.dataset(rows))):
    query = data.key_by("k").event_time("t").window(wr.CountWindow(2))
    totals = query.agg(s=wf.sum("x"), m=wf.median("x"), f=wf.polynomial_fit("x", "t", 1))
    totals.explain()
    for pattern in (wr.WinSeq(), wr.KeyFarm(2), wr.PaneFarm(2, 1)):
        assert totals.using(pattern).ordered().collect()["s"].to_pylist() == [3.0, 3.0]
    spread = query.apply(lambda w: {"d": w["x"].max() - w["x"].min()}, "d double")
    assert spread.ordered().collect()["d"].to_pylist() == [1.0, 0.0]
    folded = query.fold(lambda total, row: total + row["x"], 0.0, "double")
    assert folded.ordered().collect().num_rows == 2
pairs = wr.join(rows, ds.dataset(rows), within="5 us", on=wr.equi("k") & wr.band(x=0.5), time="t")
pairs.explain()
assert len(pairs.collect()) == 3
for call in (wr.local_spark, lambda: totals.to_df()):
    try:
        call()
    except wr.WindrowError as error:
        print(error)
"""

COMMAND = """
from windrow.cli.__main__ import main
main(["--version"])
"""


def run_hidden(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", HIDDEN + program]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


def test_queries_in_process_need_no_pyspark_and_spark_is_refused_with_the_remedy(
    tmp_path: Path,
) -> None:
    ran = run_hidden(QUERIES, tmp_path)
    assert ran.returncode == 0, ran.stderr
    said = [line for line in ran.stdout.splitlines() if "pyspark" in line or "Hint" in line]
    hint = 'Hint: pip install "windrow[spark]".'
    assert said == ["local_spark needs pyspark.", hint, "to_df needs pyspark.", hint]


@pytest.mark.parametrize("arguments", ["--version", "run"])
def test_the_command_says_what_to_install(tmp_path: Path, arguments: str) -> None:
    ran = run_hidden(COMMAND.replace("--version", arguments), tmp_path)
    assert ran.returncode == 2
    said = 'Error: the windrow command needs typer and rich. Hint: pip install "windrow[cli]".\n'
    assert ran.stderr == said
