"""Functions are sent to Spark's workers: what cannot be sent is refused before anything runs."""

from __future__ import annotations

from pyspark import cloudpickle

from windrow.core.errors import WindrowError
from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.window_query import WindowQuery


def check_can_be_sent(query: WindowQuery | JoinQuery) -> None:
    """Raise if a function of the query refers to something that cannot be pickled."""
    try:
        cloudpickle.dumps(query)  # type: ignore[no-untyped-call]
    except Exception as e:
        raise WindrowError(
            "Spark sends the functions of a query to its workers, with all that they refer to",
            f"{type(e).__name__}: {e}",
            "make locks, connections, open files and the like inside of the function, and do not "
            "use the Spark session in it.",
        ) from e
