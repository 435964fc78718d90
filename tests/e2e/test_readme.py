"""Every code block of the README runs, and prints what stands below it."""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"^```(python(?: spark)?|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.spark
def test_blocks_print_what_the_readme_says(spark: SparkSession) -> None:
    names: dict[str, Any] = {"spark": spark}
    printed, blocks = "", BLOCK.findall(README.read_text())
    assert sum(kind.startswith("python") for kind, _ in blocks) >= 4
    for kind, text in blocks:
        if kind == "text":
            assert printed.strip() == text.strip()
        else:
            output = StringIO()
            with redirect_stdout(output):
                exec(compile(text, str(README), "exec"), names)
            printed = output.getvalue()


def test_every_block_is_one_of_those_tested() -> None:
    fences = re.findall(r"^```(.*)$", README.read_text(), re.MULTILINE)
    assert set(fences) <= {"", "python", "python spark", "text"}
