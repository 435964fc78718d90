#!/bin/sh
# Install Flink in .flink: PyFlink from PyPI, and from Maven what reads Parquet. SQL needs none of the
# packages that PyFlink runs functions in Python with.
set -eu
cd "$(dirname "$0")/.."
version=2.3.0
[ "$(cat .flink/version 2>/dev/null)" = "$version" ] && exit
command -v mvn >/dev/null || {
    echo "Flink needs Maven, for the jars that read Parquet." >&2
    echo "Hint: install it (Debian, Ubuntu: sudo apt-get install maven;" \
        "macOS: brew install maven), then run make again." >&2
    exit 1
}
echo "Installing Flink in .flink: the first time takes minutes."
rm -rf .flink
.venv/bin/python -m venv .flink/venv
.flink/venv/bin/pip install --quiet --disable-pip-version-check --no-deps \
    "apache-flink==$version" "apache-flink-libraries==$version" py4j==0.10.9.7
.flink/venv/bin/pip install --quiet --disable-pip-version-check \
    'cloudpickle>=2.2' 'python-dateutil>=2.8,<3' pytz protobuf typing_extensions 'pandas<2.3' 'pyarrow<21' \
    'avro>=1.12' fastavro 'ruamel.yaml>=0.18.4'
mvn --quiet --batch-mode dependency:copy -DoutputDirectory="$PWD/.flink/jars" \
    -Dartifact="org.apache.flink:flink-sql-parquet:$version"
# Flink reads Parquet with Hadoop's classes, which PySpark has.
cp .venv/lib/python3*/site-packages/pyspark/jars/hadoop-client-*.jar .flink/jars
echo "$version" >.flink/version
