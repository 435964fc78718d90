"""Every code block of the documentation runs, and prints what stands below it."""

from __future__ import annotations

import re
import shlex
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from windrow.cli.__main__ import main

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
DOCS = sorted((Path(__file__).parents[2] / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(python|sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

WITH_CODE = [page for page in DOCS if page.stem not in ("papers", "performance", "reference")]

each_page = pytest.mark.parametrize("page", DOCS, ids=lambda page: page.name)


def run_commands(text: str) -> None:
    """Run the lines of a shell block; each is a windrow command."""
    for line in text.splitlines():
        command, *arguments = shlex.split(line)
        assert command == "windrow"
        with pytest.raises(SystemExit) as exit:
            main(arguments)
        assert not exit.value.code


def test_the_pages_are_found() -> None:
    found = {page.stem for page in DOCS}
    assert found >= {"functions", "internals", "joins", "papers", "patterns", "windows"}


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
def test_blocks_print_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": page.stem}
    printed, blocks = "", BLOCK.findall(page.read_text())
    assert sum(kind == "python" for kind, _ in blocks) >= 2
    for kind, text in blocks:
        if kind == "text":
            assert text.strip() == "\n".join(map(str.rstrip, printed.strip().splitlines()))
            printed = ""
        else:
            assert printed == "", "what a block prints stands below it"
            output = StringIO()
            with redirect_stdout(output):
                if kind == "python":
                    exec(compile(text, str(page), "exec"), names)
                else:
                    run_commands(text)
            printed = output.getvalue()
    assert printed == "", "what a block prints stands below it"


@each_page
def test_every_block_is_one_of_those_tested(page: Path) -> None:
    fences = re.findall(r"^\s*```(.*)$", page.read_text(), re.MULTILINE)
    assert set(fences) <= {"", "python", "sh", "text"}


@each_page
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text()):
        made_of_notebook = NOTEBOOKS / Path(target).with_suffix(".ipynb").name
        is_made = target.startswith("notebooks/") and made_of_notebook.exists()
        assert is_made or (page.parent / target).exists(), target
