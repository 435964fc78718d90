"""The site of the documentation: its pictures are those of the code, and it builds as it should."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from scripts.drawings import pictures

ROOT = Path(__file__).parents[2]


def test_pictures_show_what_the_code_does() -> None:
    for name, picture in pictures().items():
        drawn = ROOT / "docs" / "images" / name
        assert drawn.read_text() == picture, "draw it again: python -m scripts.drawings"


def test_the_site_builds_without_a_warning_and_finds_what_is_searched(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    index = (tmp_path / "search" / "search_index.json").read_text()
    assert "SlideByTupleWindow" in index and "join" in index
    assert "https://fonts" not in (tmp_path / "index.html").read_text()
