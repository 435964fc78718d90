"""The query of the Yahoo! Streaming Benchmark: how often the ads of each campaign were viewed.

The query keeps the views among the ad events, joins each with the campaign of its ad, and counts
them per campaign in tumbling windows of 10 s. It also gives the time of the last view. This is the
second case study of Mencagli 2019, section VI.C (docs/papers.md).

This program is a batch job: it runs the query over a bounded DataFrame and measures nothing. Spark
does such windows well, and `explain` shows that the whole query is left to it. `views` takes a
streaming DataFrame of events, too; then Windrow's own workers compute the windows.

    python examples/yahoo_streaming.py
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

import windrow as wr
from windrow import functions as wf

EVENTS = 50_000
CAMPAIGNS, ADS_EACH = 100, 10
START = np.datetime64("2026-01-05T09:30", "us").astype(np.int64)


def events() -> pa.Table:
    """Views, clicks and purchases of ads, one event per millisecond."""
    random = np.random.default_rng(7)
    kinds = pa.array(["view", "click", "purchase"])
    return pa.table(
        {
            "ad_id": random.integers(0, CAMPAIGNS * ADS_EACH, EVENTS),
            "event_type": kinds.take(pa.array(random.integers(0, 3, EVENTS))),
            "event_time": pa.array(START + np.arange(EVENTS) * 1000, pa.timestamp("us", "UTC")),
        }
    )


def campaigns() -> pa.Table:
    """The campaign of each ad."""
    ads = np.arange(CAMPAIGNS * ADS_EACH)
    return pa.table({"ad_id": ads, "campaign_id": ads // ADS_EACH})


def views(events: DataFrame, campaigns: DataFrame) -> wr.Query:
    """The number of views per campaign and 10 s."""
    joined = events.filter("event_type = 'view'").join(campaigns, "ad_id")
    return (
        wr.stream(joined)
        .key_by("campaign_id")
        .event_time("event_time")
        .window(wr.TimeWindow("10 s"))
        .agg(views=wf.count(), last_update=wf.max("event_time"))
        .ordered()
    )


def main() -> list[dict[str, object]]:
    """Print the plan and the first counts, and return all counts."""
    spark = wr.local_spark()
    query = views(spark.createDataFrame(events()), spark.createDataFrame(campaigns()))
    query.explain()
    print("\n`runs` says that Spark's own groupBy does all of it. The views per campaign and 10 s:")
    results = query.to_df()
    results.show(5, truncate=False)
    return [row.asDict() for row in results.collect()]


if __name__ == "__main__":
    main()
