"""Every code block of the documentation runs, and prints what stands below it."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

DOCS = sorted((Path(__file__).parents[2] / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

WITH_CODE = [page for page in DOCS if page.stem != "papers"]

each_page = pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)


def test_the_pages_are_found() -> None:
    found = {page.stem for page in DOCS}
    assert found >= {"functions", "internals", "joins", "papers", "patterns", "windows"}


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
def test_blocks_print_what_the_page_says(page: Path) -> None:
    names: dict[str, Any] = {"__name__": page.stem}
    printed, blocks = "", BLOCK.findall(page.read_text())
    assert sum(kind == "python" for kind, _ in blocks) >= 2
    for kind, text in blocks:
        if kind == "text":
            assert text.strip() == printed.strip()
            printed = ""
        else:
            assert printed == "", "what a block prints stands below it"
            output = StringIO()
            with redirect_stdout(output):
                exec(compile(text, str(page), "exec"), names)
            printed = output.getvalue()
    assert printed == "", "what a block prints stands below it"


@each_page
def test_every_block_is_one_of_those_tested(page: Path) -> None:
    fences = re.findall(r"^\s*```(.*)$", page.read_text(), re.MULTILINE)
    assert set(fences) <= {"", "python", "text"}


@each_page
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), target
