"""The demo: sliding windows over a live stream, checked and plotted."""

from __future__ import annotations

import sys
from pathlib import Path

from windrow.core.packages import require


def demo(rows_per_second: int, seconds: int, png: Path) -> int:
    """Run the stream for a while, check every window, plot the results; return the exit code."""
    require("the demo", "demo", "pyspark", "matplotlib", "plotext")
    from windrow.cli.live import run

    log = png.with_suffix(".log")
    try:
        run(rows_per_second, seconds, png, log)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    except Exception as error:
        print(f"The demo failed: {error}\nSpark's log is {log}", file=sys.stderr)
        return 1
    return 0
