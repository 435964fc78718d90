from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark import SparkContext

from windrow.core.errors import WindrowError
from windrow.spark import quiet_start

SAID = b"""\
WARNING: Using incubator modules: jdk.incubator.vector
Using Spark's default log4j profile: org/apache/spark/log4j2-defaults.properties
26/11/16 16:14:51 WARN Utils: Your hostname, vm, resolves to a loopback address: 127.0.0.1
26/11/16 16:14:51 WARN Utils: Set SPARK_LOCAL_IP if you need to bind to another address
Setting default log level to "WARN".
To adjust logging level use sc.setLogLevel(newLevel). For SparkR, use setLogLevel(newLevel).
26/11/16 16:14:55 WARN NativeCodeLoader: Unable to load native-hadoop library for your platform
Setting Spark log level to "ERROR".
Starting Streaming TransformWithStateInPandas Python worker.

Streaming TransformWithStateInPandas Python worker received parameters for UDF.

26/11/16 16:14:56 ERROR Executor: Exception in task 0.0

  at a place
"""


def test_only_the_lines_of_every_start_are_left_out(tmp_path: Path) -> None:
    received, sent = os.pipe()
    os.write(sent, SAID)
    os.close(sent)
    log = tmp_path / "log"
    quiet_start._pass_on(received, os.open(log, os.O_WRONLY | os.O_CREAT))
    said = b"26/11/16 16:14:56 ERROR Executor: Exception in task 0.0\n\n  at a place\n"
    assert log.read_bytes() == said


def test_spark_without_java_is_refused_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no java"))
    with pytest.raises(WindrowError, match=r"Java 17 or newer; got JAVA_HOME='.*no java'"):
        quiet_start.start_quietly({"spark.master": "local[1]"})
