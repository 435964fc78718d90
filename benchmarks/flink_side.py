"""Flink's side of ``bench_flink``: a program for the Python that has PyFlink.

    python flink_side.py IN OUT MODE REPEATS SLOTS JARS...

Prints the wall and CPU seconds of each run. Results go to OUT-0, OUT-1 and so on, as Parquet.
"""

from __future__ import annotations

import os
import sys
import time

from cpu_seconds import cpu_seconds  # of this folder, which is the program's
from pyflink.table import EnvironmentSettings, TableEnvironment

SOURCE = """
    CREATE TABLE ticks (
        k BIGINT, t BIGINT, x BIGINT,
        ts AS TO_TIMESTAMP_LTZ(t, 3), WATERMARK FOR ts AS ts - INTERVAL '0.001' SECOND
    ) WITH ('connector' = 'filesystem', 'path' = 'file://{path}', 'format' = 'parquet')
"""
SINK = """
    CREATE TABLE {name} (k BIGINT, window_start TIMESTAMP(3), n BIGINT, s BIGINT, m BIGINT)
    WITH ('connector' = 'filesystem', 'path' = 'file://{path}', 'format' = 'parquet')
"""
QUERY = """
    INSERT INTO {name} SELECT k, window_start, COUNT(*), SUM(x), MAX(x)
    FROM HOP(TABLE ticks, DESCRIPTOR(ts), INTERVAL '0.010' SECOND, INTERVAL '1' SECOND)
    GROUP BY k, window_start, window_end
"""


def main(source: str, out: str, mode: str, repeats: int, slots: int, jars: list[str]) -> None:
    """Run the query and tell how long it took, again and again."""
    # SQL needs no server for functions in Python, which PyFlink would start otherwise.
    os.environ["_python_worker_execution_mode"] = "process"  # noqa: SIM112
    builder = EnvironmentSettings.new_instance()
    chosen = builder.in_streaming_mode() if mode == "streaming" else builder.in_batch_mode()
    env = TableEnvironment.create(chosen.build())
    settings = {
        "pipeline.jars": ";".join(f"file://{jar}" for jar in jars),
        "parallelism.default": str(slots),
        "table.local-time-zone": "UTC",
    }
    for name, value in settings.items():
        env.get_config().set(name, value)
    env.execute_sql(SOURCE.format(path=source))
    for i in range(repeats):
        env.execute_sql(SINK.format(name=f"results_{i}", path=f"{out}-{i}"))
        cpu, began = cpu_seconds(), time.monotonic()
        env.execute_sql(QUERY.format(name=f"results_{i}")).wait()
        print(f"took {time.monotonic() - began} {cpu_seconds() - cpu}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5]), sys.argv[6:])
