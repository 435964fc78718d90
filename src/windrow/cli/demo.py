"""`make demo`: sliding windows over a live stream, checked and plotted."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

REQUIRED = ("matplotlib", "plotext", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the stream for a while, check every window, and plot the results."""
    options = _parser().parse_args(arguments)
    missing = [name for name in REQUIRED if find_spec(name) is None]
    if missing:
        print(f"The demo needs {', '.join(missing)}.", file=sys.stderr)
        print('Hint: pip install "windrow[demo]", or make demo in a clone.', file=sys.stderr)
        return 1
    from windrow.cli.live import run

    log = options.png.with_suffix(".log")
    try:
        run(options.rows_per_second, options.seconds, options.png, log)
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    except Exception as error:
        print(f"The demo failed: {error}\nSpark's log is {log}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m windrow.cli.demo",
        description="Sliding windows over a live stream, checked and plotted.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--seconds", type=_positive, default=20, help="duration, from the first windows on")
    add("--rows-per-second", type=_positive, default=50_000, help="rate of the source")
    add("--png", type=Path, default=Path("artifacts/demo.png"), help="where the plot goes")
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"must be a positive whole number; got {text!r}")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
