"""The session in which a query runs: that of its DataFrame, the one given, or the active one."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from windrow.core.errors import WindrowError

_HINT = "call to_df(spark), where spark is your session or wr.local_spark()."


def check_session(spark: object, df: DataFrame) -> None:
    """Raise an error if a session is given that is not the DataFrame's."""
    if spark is not None and _checked(spark) is not df.sparkSession:
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


def _checked(spark: object) -> SparkSession:
    if not isinstance(spark, SparkSession):
        raise WindrowError("the first argument of to_df is a Spark session", repr(spark), _HINT)
    return spark
