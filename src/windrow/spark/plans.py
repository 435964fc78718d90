"""What the plan of a DataFrame tells about the stream behind it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pyspark.sql import DataFrame

from windrow.core.errors import WindrowError
from windrow.spark.master import is_connect

_LINE = re.compile(r"([ :+-]*)~?(\w+)(.*)")
"""The branches before a node, its name and its arguments."""
_METRICS = re.compile(r" (.+?), \[.*\], (\d+)$")
"""The name of observed metrics, and the number of the DataFrame they belong to."""


Metrics = tuple[str, str]
"""The name of observed metrics, and the number of their DataFrame, which no other has."""


@dataclass(frozen=True)
class Node:
    """A node of a plan; its children follow it, one level deeper."""

    depth: int
    name: str
    arguments: str


def nodes_of(df: DataFrame) -> Iterator[Node]:
    """The nodes of the analysed plan, each before those it reads from."""
    if is_connect(df.sparkSession):
        explained = df._explain_string(extended=True)  # type: ignore[operator]
        text = explained.split("== Analyzed Logical Plan ==")[1].split("\n== ")[0]
    else:
        text = df._jdf.queryExecution().analyzed().toString()
    return nodes_in(text)


def nodes_in(text: str) -> Iterator[Node]:
    """The nodes of a plan that is given as text.

    >>> [(n.depth, n.name) for n in nodes_in("~Union\\n:- ~Filter (x > 1)\\n+- ~Range")]
    [(0, 'Union'), (1, 'Filter'), (1, 'Range')]
    """
    for line in text.splitlines():
        if found := _LINE.match(line):
            yield Node(len(found[1]) // 3, found[2], found[3])


def watermarks_of(df: DataFrame) -> int:
    """How many watermarks were set on the way of a row, one behind the other, at most."""
    above: list[int] = []
    most = 0
    for node in nodes_of(df):
        while above and above[-1] >= node.depth:
            above.pop()
        if node.name == "EventTimeWatermark":
            above.append(node.depth)
            most = max(most, len(above))
    return most


def metrics_of(df: DataFrame) -> list[Metrics]:
    """The observed metrics on the way to the rows, the last ones first."""
    return _metrics(nodes_of(df))


def metrics_in(text: str) -> list[Metrics]:
    """The same in a plan that is given as text."""
    return _metrics(nodes_in(text))


def _metrics(nodes: Iterator[Node]) -> list[Metrics]:
    given = [node.arguments for node in nodes if node.name == "CollectMetrics"]
    return [(m[1], m[2]) for arguments in given if (m := _METRICS.match(arguments))]


def check_metrics(name: str, *dfs: DataFrame) -> None:
    """Refuse a name of metrics that another query has: Spark wants each name once in a stream."""
    found = {metrics for df in dfs for metrics in metrics_of(df)}
    taken = [name, *(other for other, _ in found)]
    twice = next((each for each in taken if taken.count(each) > 1), None)
    if twice is not None:
        raise WindrowError(
            "each query within a stream needs a name of its own for its metrics",
            f"{twice!r} for two of them",
            'give one of them another name: to_df(observation="second").',
        )
