"""`windrow inspect`: a checkpoint in words."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console

import windrow as wr
from windrow.core.errors import WindrowError
from windrow.core.packages import require
from windrow.engine.state.mismatch import pattern_call


def show_checkpoint(location: str, most: int) -> None:
    """Print whose state the checkpoint holds, how much, and the biggest keys."""
    require("inspect", "spark", "pyspark")
    _check_folder(location)
    from windrow.spark.checkpoint_contents import contents_of

    ours, others = contents_of(wr.local_spark(), location)
    if not ours:
        names = ", ".join(others.values()) or "no stateful operator"
        raise WindrowError("the checkpoint has no state of Windrow", names)
    console = Console(highlight=False, markup=False)
    for operator, contents in ours.items():
        biggest = [f"{key} ({rows:,})" for key, rows in contents.biggest(most)]
        header = contents.header
        lines = {
            "stage": f"{header['stage']}, stateful operator {operator} of Spark",
            **described(header["query"]),
            "written by": f"Windrow {header['windrow']}, state format {header['version']}",
            "workers": f"{contents.workers:,}",
            "keys": f"{contents.keys:,}" if contents.keys else "",
            "rows": f"{contents.rows:,} stored, counting partial results and rows that wait",
            "bytes": f"{contents.bytes:,}",
            "watermark": _instant(contents.watermark),
            "late rows": f"{contents.dropped:,} dropped since the stream began",
            "biggest keys": "; ".join(biggest),
        }
        for name, value in lines.items():
            if value:
                console.print(f"{name:<13}{value}", soft_wrap=True)
        console.print()
    if others:
        console.print(f"Beside them: {', '.join(others.values())}, which is not of Windrow.")


def _check_folder(location: str) -> None:
    """Refuse a folder that is no checkpoint before Spark takes seconds to start."""
    folder = Path(location)
    if ":/" in location or "HADOOP_CONF_DIR" in os.environ or (folder / "commits").is_dir():
        return
    rule = "inspect takes the checkpointLocation of a streaming query that has ended a batch"
    if not folder.is_dir():
        raise WindrowError(rule, f"no folder at {location!r}")
    inside = sorted(str(each.parent) for each in folder.glob("*/commits"))
    hint = f"it has these checkpoints in it: {inside}." if inside else None
    raise WindrowError(rule, f"{location!r}, which has no folder 'commits'", hint)


def described(query: dict[str, Any]) -> dict[str, str]:
    """The query that a header describes, line by line."""
    told = {name: part for name, part in query.items() if name != "defaults"}
    given = {name: value for name, value in told.items() if value or name == "keys"}
    said = {"per key" if n == "keys" else n: json.dumps(value) for n, value in given.items()}
    if "window" in query:
        said["window"] = _model(query["window"])
    if "keys" in query:
        said["per key"] = _columns(query["keys"])
    if query.get("event_time"):
        unit = query["event_time"].get("unit", "us")
        said["event_time"] = f"{_columns([query['event_time']])} in {unit}"
    for order in ("order_by", "rank_by"):
        if query.get(order):
            said[order] = _columns(query[order])
    if "functions" in query.get("computation", {}):
        functions = query["computation"]["functions"].items()
        said["computation"] = ", ".join(f"{name}={_function(f)}" for name, f in functions)
    if "pattern" in query:
        said["pattern"] = pattern_call(query["pattern"])
    return {name.replace("_", " "): value for name, value in said.items()}


def _model(window: dict[str, Any]) -> str:
    """The call that makes the model; a model of a user's own is told by its fields."""
    fields = {n: v for n, v in window.items() if n not in ("model", "columns")}
    own = getattr(wr, window["model"], None)
    if isinstance(own, type) and issubclass(own, wr.WindowModel):
        return repr(own(**fields))
    return f"{window['model']}({', '.join(f'{n}={v!r}' for n, v in fields.items())})"


def _columns(columns: list[dict[str, str]]) -> str:
    return ", ".join(f"{c['column']} ({c['type']})" for c in columns) or "none"


def _function(function: dict[str, Any]) -> str:
    columns = [repr(c["column"]) for c in function["columns"]]
    parameters = [f"{name}={value!r}" for name, value in function["parameters"].items()]
    return f"{function['function']}({', '.join([*columns, *parameters])})"


def _instant(micros: int | None) -> str:
    if micros is None:
        return "none yet"
    try:
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)
    except OverflowError:
        return f"{micros:,} us since 1970"
    return at.isoformat(sep=" ")
