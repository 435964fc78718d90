"""Imports point one way, and `import windrow` stays light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import windrow

ROOT = Path(windrow.__file__).parent
LAYERS = [
    "core", "kernels", "functions", "engine", "patterns", "planner", "spark", "api", "cli",
]  # fmt: skip
FORBIDDEN = {
    "core": {"pyarrow", "numba", "pandas", "pyspark"},
    "kernels": {"pyarrow", "pandas", "pyspark"},
    "functions": {"pyarrow", "pandas", "pyspark"},
    "engine": {"pandas", "pyspark"},
    "patterns": {"pandas", "pyspark"},
    "planner": {"pandas", "pyspark"},
}
MODULES = sorted(ROOT.rglob("*.py"))


def layer_of(module: str) -> str:
    return module.split(".")[1] if "." in module else "api"


def imports(path: Path) -> Iterator[str]:
    """Modules a file imports, wherever in it, but for those only type checkers see."""
    tree = ast.parse(path.read_text())
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if id(node) in typing_only:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            assert node.module is not None
            if node.module == "windrow":
                yield from (f"windrow.{alias.name}" for alias in node.names)
            else:
                yield node.module


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_point_down_the_layers(path: Path) -> None:
    parts = path.relative_to(ROOT).with_suffix("").parts
    if parts == ("__init__",):
        return
    own = parts[0]
    assert own in LAYERS, f"{path} is in no layer"
    for module in imports(path):
        top = module.split(".")[0]
        assert top not in FORBIDDEN.get(own, set()), f"{own} must not import {top}"
        if top == "windrow":
            theirs = layer_of(module)
            is_below = theirs in LAYERS and LAYERS.index(theirs) <= LAYERS.index(own)
            assert is_below, f"{own} must not import {module}"


def test_import_windrow_imports_nothing_heavy_and_costs_little() -> None:
    program = (
        "import sys, time; before = time.process_time(); import windrow; "
        "print(time.process_time() - before); "
        "print([m for m in ('pyspark', 'numba', 'pandas', 'pyarrow') if m in sys.modules])"
    )
    seconds, heavy = [], ""
    for _ in range(5):
        run = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True
        )
        first, heavy = run.stdout.splitlines()
        seconds.append(float(first))
    assert heavy == "[]"
    assert min(seconds) < 0.3
