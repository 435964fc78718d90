"""How many tasks a session runs at once."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from functools import cache

from pyspark.sql import SparkSession

from windrow.core.errors import WindrowError, received
from windrow.spark.master import is_connect, master_of
from windrow.spark.settings import CORES

UNKNOWN_CORES = 2
"""What is assumed of a server that tells nothing."""


def cores_of(spark: SparkSession) -> int:
    """How many tasks the session runs at once.

    ``spark.windrow.cores`` says it if it is set. Otherwise the session's settings do: the most
    executors that dynamic allocation may start, the executors or cores asked for, the cores of a
    local master. They come first because executors may not have registered yet. If they say
    nothing, Spark's default parallelism does; a Connect server cannot be asked for it, so 2 cores
    are assumed there, with a line in the log.
    """
    settings = spark.conf.getAll
    if (given := settings.get(CORES)) is not None:
        if not re.fullmatch(r"0*[1-9]\d*", given):
            raise WindrowError(f"{CORES} must be a positive number", received(CORES, given))
        return int(given)
    if (told := cores_in(master_of(spark), settings)) is not None:
        return told
    if not is_connect(spark):
        return spark.sparkContext.defaultParallelism
    if (parallelism := settings.get("spark.default.parallelism")) is not None:
        return int(parallelism)
    if (master := master_of(spark)) == "local[*]" or master.startswith("local[*,"):
        return os.cpu_count() or 1
    _say_unknown(spark.session_id)  # type: ignore[attr-defined]
    return UNKNOWN_CORES


def cores_in(master: str, settings: Mapping[str, str]) -> int | None:
    """The cores that a master and its settings tell, if they do.

    >>> cores_in("local[4]", {}), cores_in("yarn", {"spark.executor.instances": "3"})
    (4, 3)
    >>> cores_in("yarn", {}) is None
    True
    """
    if master == "local":
        return 1
    if found := re.fullmatch(r"local\[(\d+)(?:,.*)?\]", master):
        return int(found[1])
    if found := re.fullmatch(r"local-cluster\[(\d+),(\d+),\d+\]", master):
        return int(found[1]) * int(found[2])
    if master.startswith("local["):
        return None
    per_executor = int(settings.get("spark.executor.cores", 1))
    if settings.get("spark.dynamicAllocation.enabled") == "true":
        most = settings.get("spark.dynamicAllocation.maxExecutors", "infinity")
        return int(most) * per_executor if most.isdigit() and int(most) < 2**31 - 1 else None
    if (instances := settings.get("spark.executor.instances")) is not None:
        return int(instances) * per_executor
    limit = settings.get("spark.cores.max")
    return None if limit is None else int(limit)


@cache
def _say_unknown(session_id: str) -> None:
    """Once per session."""
    logging.getLogger("windrow").warning(
        "the Connect server does not tell its cores: %d are assumed; set %s to their number",
        UNKNOWN_CORES,
        CORES,
    )
