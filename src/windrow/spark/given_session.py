"""The session in which a query runs: that of its DataFrame, the one given, or the active one."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, SparkSession

from windrow.core.errors import WindrowError
from windrow.spark.master import is_connect
from windrow.spark.settings import is_on
from windrow.spark.splits import ScannedRows

_HINT = "call to_df(spark), where spark is your session or wr.local_spark()."


def check_session(spark: object, df: DataFrame | ScannedRows) -> None:
    """Raise an error if a session is given that is not that of the rows."""
    if spark is not None and not _are_same(_checked(spark), df.sparkSession):
        what = "stream" if isinstance(df, ScannedRows) and df.isStreaming else "DataFrame"
        rule = f"a query over a {what} runs in the {what}'s own session"
        raise WindrowError(rule, "another session", "call to_df() without it.")


def session_of(spark: object, what: str = "a dataset", hint: str = _HINT) -> SparkSession:
    """The given session, or else the active one, which ``what`` needs."""
    if spark is not None:
        return _checked(spark)
    active = SparkSession.getActiveSession()
    if active is None:
        raise WindrowError(f"{what} needs a Spark session to run on", "none", hint)
    return active


def is_case_sensitive(spark: SparkSession) -> bool:
    """Whether names that differ in case only are two columns in this session."""
    return is_on(spark, "spark.sql.caseSensitive", by_default=False)


def checked_session(spark: Any, step: str, hint: str | None = None) -> SparkSession:
    """The session, classic or Connect: their classes have nothing in common but their name."""
    kind = type(spark)
    if kind.__name__ != "SparkSession" or not kind.__module__.startswith("pyspark.sql"):
        raise WindrowError(f"the first argument of {step} is a Spark session", repr(spark), hint)
    found: SparkSession = spark
    return found


def _checked(spark: object) -> SparkSession:
    return checked_session(spark, "to_df", _HINT)


def _are_same(one: Any, other: Any) -> bool:
    """Whether both stand for the same session: Spark makes several objects of one."""
    if one is other:
        return True
    if is_connect(one) or is_connect(other):
        return bool(getattr(one, "session_id", 0) == getattr(other, "session_id", 1))
    return bool(one._jsparkSession.equals(other._jsparkSession))
