"""The `windrow` command."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

from windrow.core.errors import WindrowError
from windrow.core.packages import require


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run a command and exit; what is wrong with its arguments is one line, and the code is 2."""
    try:
        require("the windrow command", "cli", "typer", "rich")
        from windrow.cli.app import app

        sys.exit(app(arguments, prog_name="windrow"))
    except WindrowError as error:
        print(f"Error: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
