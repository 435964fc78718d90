"""A Spark session with the connectors of the pipeline."""

from __future__ import annotations

from pyspark.sql import SparkSession

from tests.pipeline.servers import JARS


def session(cores: int) -> SparkSession:
    jars = ",".join(str(path) for path in sorted((JARS / "spark").glob("*.jar")))
    assert jars, "make test-pipeline downloads the connectors"
    return (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.jars", jars)
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
        .config(
            "spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"
        )
        .config("spark.sql.shuffle.partitions", 2)
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.log.level", "ERROR")
        .config("spark.databricks.delta.snapshotPartitions", 2)
        # Tests run each piece of code seldom: to compile it well would cost more than it gives.
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .getOrCreate()
    )
