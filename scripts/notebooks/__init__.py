"""The notebooks: how they are executed, and how they become pages of the site."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "notebooks"
