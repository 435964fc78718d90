"""How long the first query takes on fresh executors, with kernels that were shipped and without.

Run with ``make bench-cluster``. Each query runs twice in an application of its own on a standalone
cluster of two executors, over few rows, so that all it costs is what a first query costs. Before it
runs a job of Spark's with Python workers that knows nothing of Windrow.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.deployment.standalone import cluster
from tests.deployment.submitted import ARROW, WHEEL, bring, submit, unpack_environment
from tests.restarts import rows
from tests.spark.arrivals import Arrivals

QUERIES = {
    "paned": "a time window of sums",
    "counted": "a count window of sums",
    "median": "a time window of medians",
}
STREAM = "a time window of sums, stream"


def main() -> None:
    """Print a line per query: first and second run, with shipped kernels and without."""
    with tempfile.TemporaryDirectory() as scratch:
        driver = Path(scratch, "driver")
        driver.mkdir()
        unpack_environment(driver)
        with cluster(Path(scratch, "cluster")) as at:
            for is_shipped in (True, False):
                print("kernels shipped" if is_shipped else "no kernels", flush=True)
                folder = Path(scratch, f"program-{is_shipped}")
                bring(rows(400), Arrivals(folder / "in", ARROW), 4)
                settings = WHEEL | (
                    {} if is_shipped else {"spark.executorEnv.NUMBA_CACHE_DIR": "./none"}
                )
                settings["spark.executorEnv.XDG_CACHE_HOME"] = "./nothing"
                for name, title in QUERIES.items():
                    found = submit(at, driver, settings, folder, "bounded", name)
                    first, second = found["seconds"][name]
                    print(f"  {title:32} {first:6.2f} s, then {second:6.2f} s", flush=True)
                found = submit(at, driver, settings, folder, "stream", "paned")
                first, *others = found["seconds"]["paned"]
                median = sorted(others)[len(others) // 2]
                print(f"  {STREAM:32} {first:6.2f} s, then {median:6.2f} s", flush=True)


if __name__ == "__main__":
    main()
