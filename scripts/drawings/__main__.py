"""Draw the pictures of the documentation: ``python -m scripts.drawings``."""

from __future__ import annotations

from pathlib import Path

from scripts.drawings import pictures

FOLDER = Path(__file__).parents[2] / "docs" / "images"

if __name__ == "__main__":
    for name, picture in pictures().items():
        (FOLDER / name).write_text(picture)
        print(name)
