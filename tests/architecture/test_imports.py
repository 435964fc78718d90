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
    "core", "kernels", "functions", "engine", "patterns", "planner", "monitoring", "spark", "api",
    "cli",
]  # fmt: skip
FORBIDDEN = {
    "core": {"pyarrow", "numba", "pandas", "pyspark"},
    "kernels": {"pyarrow", "pandas", "pyspark"},
    "functions": {"pyarrow", "pandas", "pyspark"},
    "engine": {"pandas", "pyspark"},
    "patterns": {"pandas", "pyspark"},
    "planner": {"pandas", "pyspark"},
    "monitoring": {"pandas", "pyspark"},
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
    own = "api" if parts == ("__init__",) else parts[0]
    assert own in LAYERS, f"{path} is in no layer"
    for module in imports(path):
        top = module.split(".")[0]
        assert top not in FORBIDDEN.get(own, set()), f"{own} must not import {top}"
        if top == "windrow":
            theirs = layer_of(module)
            is_below = theirs in LAYERS and LAYERS.index(theirs) <= LAYERS.index(own)
            assert is_below, f"{own} must not import {module}"


def test_every_package_is_a_layer() -> None:
    assert {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()} == set(LAYERS)


def test_import_windrow_loads_numpy_and_what_queries_are_built_of() -> None:
    """Not PyArrow, Numba, pandas or PySpark, and none of what runs queries."""
    program = (
        "import sys; before = set(sys.modules); import windrow; "
        "print(*sorted(set(sys.modules) - before))"
    )
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = run.stdout.split()
    others = {module.split(".")[0] for module in loaded} - sys.stdlib_module_names
    assert others == {"windrow", "numpy"}
    packages = {module.split(".")[1] for module in loaded if module.startswith("windrow.")}
    assert packages == {"core", "functions", "patterns", "api"}


def test_what_spark_asks_of_a_stage_before_a_stream_runs_loads_no_engine() -> None:
    """Spark starts a process for that, which would otherwise compile and load for a second."""
    program = "import sys, windrow.spark.stateful; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in run.stdout.split()}
    packages = {name.split(".")[1] for name in run.stdout.split() if name.startswith("windrow.")}
    assert "numba" not in loaded
    assert packages.isdisjoint({"kernels", "engine", "planner"})


@pytest.mark.parametrize("path", sorted((ROOT / "spark").rglob("*.py")), ids=lambda p: p.stem)
def test_a_mere_client_of_spark_connect_can_load_what_queries_need(path: Path) -> None:
    classic = {"py4j", "SparkContext", "SparkConf", "SparkFiles"}
    loaded = [
        node
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    names = {alias.name.split(".")[0] for node in loaded for alias in node.names}
    modules = {n.module.split(".")[0] for n in loaded if isinstance(n, ast.ImportFrom) and n.module}
    starts_spark = path.stem in ("local", "quiet_start")
    assert starts_spark or not classic & (names | modules)
