#!/bin/sh
# Download Kafka, Spark's connectors and the PySpark they are for into .pipeline, and run the tests
# in tests/pipeline, which start and stop the servers. tests/pipeline/pom.xml has the versions.
set -eu
cd "$(dirname "$0")/.."
pom=tests/pipeline/pom.xml
python=.pipeline/venv/bin/python

POSTGRES_BIN=$(scripts/find_postgres.sh)
export POSTGRES_BIN

if ! command -v mvn >/dev/null; then
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "No Maven found: installing Debian's."
        apt-get -qq update
        DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends maven
    else
        echo "The pipeline needs Maven for the jars of Kafka and Spark's connectors." >&2
        echo "Hint: install it (Debian, Ubuntu: sudo apt-get install maven;" \
            "macOS: brew install maven), then run make again." >&2
        exit 1
    fi
fi

# Download the dependencies of a profile.
jars() {
    profile=$1
    shift
    mvn --quiet --batch-mode --file "$pom" --activate-profiles "$profile" \
        dependency:copy-dependencies -DincludeScope=runtime \
        -DoutputDirectory="$PWD/.pipeline/jars/$profile" "$@"
}

if ! [ .pipeline/.installed -nt "$pom" ] || ! [ .pipeline/.installed -nt pyproject.toml ]; then
    echo "Downloading servers and connectors into .pipeline: the first time takes minutes."
    rm -rf .pipeline
    mkdir -p .pipeline/jars
    jars kafka
    # The rest of Delta's dependencies are part of Spark.
    ours=org.apache.spark,org.apache.kafka,org.apache.commons,io.delta,io.unitycatalog,org.postgresql
    jars spark "-DincludeGroupIds=$ours"
    .venv/bin/python -m venv .pipeline/venv
    spark=$(sed -n 's:.*<spark.version>\(.*\)</spark.version>.*:\1:p' "$pom")
    "$python" -m pip install --quiet --disable-pip-version-check "pyspark==$spark" \
        --editable '.[spark]' 'pytest>=8.4' 'hypothesis>=6.100'
    touch .pipeline/.installed
fi

export PYSPARK_PYTHON="$PWD/$python"
[ $# -gt 0 ] || set -- tests/pipeline
exec "$python" -m pytest -m pipeline "$@"
