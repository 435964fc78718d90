#!/bin/sh
# Build the wheel and the source distribution, and try them in environments that have nothing else.
# With JAVA_HOME set, also on Spark.
set -eu
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python=$PWD/.venv/bin/python

"$python" -m build --outdir "$work/dist" . >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
wheel=$(ls "$work"/dist/*.whl)
sdist=$(ls "$work"/dist/*.tar.gz)
echo "Built $(basename "$wheel") and $(basename "$sdist")"
"$python" -m zipfile -l "$wheel" >"$work/files"
tar -tzf "$sdist" >>"$work/files"
for name in windrow/py.typed licenses/LICENSE entry_points.txt src/windrow/py.typed /LICENSE /README.md; do
    grep -q "$name" "$work/files" || { echo "The packages lack $name" >&2; exit 1; }
done

cat >"$work/smoke.py" <<'PROGRAM'
import sys
from importlib import metadata

import pyarrow as pa
import pyarrow.parquet as pq

import windrow as wr
from windrow import functions as wf

assert metadata.version("windrow") == wr.__version__
assert ".venv" not in wr.__file__ and "/src/" not in wr.__file__, wr.__file__
rows = pa.table({"k": [1, 1, 2, 1], "t": [1, 2, 2, 4], "x": [1.0, 2.0, 3.0, 4.0]})
pq.write_table(rows, sys.argv[1])
query = wr.scan(sys.argv[1]).key_by("k").event_time("t", unit="s").window(wr.TimeWindow("4 s"))
assert query.agg(s=wf.sum("x")).ordered().collect()["s"].to_pylist() == [3.0, 4.0, 3.0]
pairs = wr.join(rows, rows, within=1, on=wr.equi("k"), time="t").collect()
assert len(pairs) > 0
if len(sys.argv) > 2:
    spark = wr.local_spark()
    found = query.agg(s=wf.sum("x")).ordered().to_df(spark).collect()
    assert [row["s"] for row in found] == [3.0, 4.0, 3.0]
PROGRAM

# Make an empty environment with a package and its extras.
environment() {
    "$python" -m venv "$work/$1"
    "$work/$1/bin/pip" install --quiet --disable-pip-version-check "$2"
}
# Outside of the clone, whose folders Python would import from.
try() {
    (cd "$work" && "$@") || { echo "failed: $*" >&2; exit 1; }
}

environment core "$wheel"
try "$work/core/bin/python" smoke.py rows.parquet
if "$work/core/bin/windrow" --version >"$work/said" 2>&1; then
    echo "the command must say what to install" >&2; exit 1
fi
grep -q 'pip install "windrow\[cli\]"' "$work/said"
! "$work/core/bin/python" -c 'import pyspark' 2>/dev/null
echo "The wheel without extras: queries run in process, without PySpark"

environment cli "$sdist[cli]"
try "$work/cli/bin/windrow" run rows.parquet -k k -t t --unit s -w "time 4 s" -a "s=sum(x)" -o out.csv
grep -q '^2,' "$work/out.csv"
try "$work/cli/bin/windrow" check
echo "The source distribution with [cli]: windrow run and windrow check work, without PySpark"

if [ -n "${JAVA_HOME:-}" ]; then
    environment spark "$wheel[cli,spark]"
    export PYSPARK_PYTHON="$work/spark/bin/python"
    try "$work/spark/bin/python" smoke.py rows.parquet spark
    try "$work/spark/bin/windrow" check
    echo "The wheel with [cli,spark]: queries run on Spark"
fi
