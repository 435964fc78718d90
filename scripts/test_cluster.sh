#!/bin/sh
# Make what a cluster is shipped, in .cluster, and run the tests in tests/deployment: they start a
# standalone master and two workers, which have nothing else of this clone.
set -eu
cd "$(dirname "$0")/.."
python=.venv/bin/python
cluster=$PWD/.cluster
mkdir -p "$cluster"

# Make an environment, unless it has these packages.
environment() {
    name=$1
    shift
    [ "$(cat "$cluster/$name/packages.txt" 2>/dev/null)" = "$*" ] && return
    rm -rf "${cluster:?}/$name"
    "$python" -m venv "$cluster/$name"
    "$cluster/$name/bin/pip" install --quiet --disable-pip-version-check "$@"
    echo "$*" >"$cluster/$name/packages.txt"
}

# What windrow needs on executors: Spark brings its own PySpark.
needs() {
    "$python" - "$@" <<'PROGRAM'
import sys
import tomllib

project = tomllib.load(open("pyproject.toml", "rb"))["project"]
extras = [n for e in sys.argv[1:] for n in project["optional-dependencies"][e]]
print(*(n.replace(" ", "") for n in project["dependencies"] + extras if "pyspark" not in n))
PROGRAM
}

echo "Making what the cluster is shipped in .cluster: the first time takes minutes."
rm -rf "$cluster/dist" "$cluster/kernels"
"$python" -m build --wheel --outdir "$cluster/dist" . >"$cluster/build.log" 2>&1 || {
    cat "$cluster/build.log"
    exit 1
}
wheel=$(ls "$cluster"/dist/*.whl)
# shellcheck disable=SC2046 # one argument per package
environment packed $(needs spark cli) venv-pack setuptools
# shellcheck disable=SC2046
environment plain $(needs spark)
# A client of Spark Connect, without Spark.
# shellcheck disable=SC2046
environment client pyspark-client "pandas<3" $(needs)
"$cluster/client/bin/pip" install --quiet --disable-pip-version-check --force-reinstall --no-deps "$wheel"
"$cluster/packed/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$wheel"

"$cluster/packed/bin/windrow" warm
"$cluster/packed/bin/venv-pack" --quiet --force -p "$cluster/packed" -o "$cluster/environment.tar.gz"
# A zip cannot be written to: without bytecode in it, each process compiles the sources.
rm -rf "$cluster/zipped" "$cluster/windrow.zip"
"$python" -m pip install --quiet --disable-pip-version-check --no-deps --no-compile \
    --target "$cluster/zipped" "$wheel"
"$python" -m compileall -q -b --invalidation-mode unchecked-hash "$cluster/zipped/windrow"
"$python" -m zipfile -c "$cluster/windrow.zip" "$cluster/zipped/windrow"
"$cluster/packed/bin/windrow" warm "$cluster/kernels"
tar -czf "$cluster/kernels.tar.gz" -C "$cluster/kernels" .

exec "$python" -m pytest -m cluster -rP "$@" tests/deployment
