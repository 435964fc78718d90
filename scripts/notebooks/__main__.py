"""Execute the notebooks anew: ``python -m scripts.notebooks [name ...]``."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat

from scripts.notebooks import FOLDER
from scripts.notebooks.execution import executed

if __name__ == "__main__":
    for path in sorted(FOLDER.glob("*.ipynb")):
        if path.stem in sys.argv[1:] or not sys.argv[1:]:
            with TemporaryDirectory() as folder:
                nbformat.write(executed(path, Path(folder)), path)
            print(path.name)
