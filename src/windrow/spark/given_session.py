"""The session in which a query runs: that of its DataFrame, the one given, or the active one."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from windrow.core.errors import WindrowError
from windrow.spark.master import is_connect

_HINT = "call to_df(spark), where spark is your session or wr.local_spark()."


def check_session(spark: object, df: DataFrame) -> None:
    """Raise an error if a session is given that is not the DataFrame's."""
    if spark is not None and not _are_same(_checked(spark), df.sparkSession):
        rule = "a query over a DataFrame runs in the DataFrame's own session"
        raise WindrowError(rule, "another session", "call to_df() without it.")


def session_of(spark: object) -> SparkSession:
    """The given session, or else the active one."""
    if spark is not None:
        return _checked(spark)
    active = SparkSession.getActiveSession()
    if active is None:
        raise WindrowError("a dataset needs a Spark session to run on", "none", _HINT)
    return active


def _checked(spark: Any) -> SparkSession:
    """The session, classic or Connect: their classes have nothing in common but their name."""
    kind = type(spark)
    if kind.__name__ != "SparkSession" or not kind.__module__.startswith("pyspark.sql"):
        raise WindrowError("the first argument of to_df is a Spark session", repr(spark), _HINT)
    found: SparkSession = spark
    return found


def _are_same(one: Any, other: Any) -> bool:
    """Whether both stand for the same session: Spark makes several objects of one."""
    if one is other:
        return True
    if is_connect(one) or is_connect(other):
        return bool(getattr(one, "session_id", 0) == getattr(other, "session_id", 1))
    return bool(one._jsparkSession.equals(other._jsparkSession))
