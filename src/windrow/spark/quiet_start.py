"""Starts Spark's JVM without the lines that every start writes to the standard error."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from threading import Thread

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway

from windrow.core.errors import WindrowError

_OF_EVERY_START = re.compile(
    rb"WARNING: Using incubator modules|"
    rb"Using Spark's default log4j profile|"
    rb"Setting (default|Spark) log level to |"
    rb"To adjust logging level use |"
    rb"\S+ \S+ WARN Utils: (Your hostname|Set SPARK_LOCAL_IP)|"
    rb"\S+ \S+ WARN NativeCodeLoader: Unable to load native-hadoop|"
    rb"(Starting )?Streaming TransformWithStateInPandas Python worker"
)
"""What every start of Spark, and of its Python workers with state, says.

Java's warning of a module that Spark asks for, and the lines of the workers, come from no log, so
no setting silences them.
"""


def start_quietly(settings: Mapping[str, str]) -> None:
    """Start the JVM with these settings, unless there is one or a server has it.

    What it writes to the standard error passes through this process for as long as it runs, and
    the lines of every start are left out. All other lines appear as they come.
    """
    if SparkContext._gateway or "SPARK_REMOTE" in os.environ or "spark.remote" in settings:
        return
    received, sent = os.pipe()
    Thread(target=_pass_on, args=(received, os.dup(2)), daemon=True).start()
    conf = SparkConf().setAll(list(settings.items()))
    try:
        gateway = launch_gateway(conf, {"stderr": sent})  # type: ignore[no-untyped-call]
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        rule = "Spark's JVM did not start; Spark needs Java 17 or newer"
        got = f"JAVA_HOME={os.environ.get('JAVA_HOME', '')!r}"
        hint = "install it and set JAVA_HOME to its folder; `windrow check` says what is found."
        raise WindrowError(rule, got, hint) from None
    finally:
        os.close(sent)
    SparkContext._ensure_initialized(gateway=gateway)


def _pass_on(received: int, to: int) -> None:
    """Write the lines that say something; read on to the end even if nobody takes them."""
    was_left_out = False
    with os.fdopen(received, "rb") as lines, os.fdopen(to, "wb", buffering=0) as out:
        for line in lines:
            is_blank_behind = was_left_out and not line.strip()
            was_left_out = is_blank_behind or _OF_EVERY_START.match(line) is not None
            if not was_left_out:
                with suppress(OSError):
                    out.write(line)
