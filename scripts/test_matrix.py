"""Test Windrow with each release line of PySpark and each Python that is installed here.

Every pair has a virtual environment of its own below ``build/matrix``, with the newest packages
that both allow. Give names such as ``4.0.5-3.12`` to try only these pairs. It prints one line per
pair, and ends with an error if any pair failed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "build" / "matrix"
SPARKS = ("4.0.0", "4.0.5", "4.1.4", "4.2.1", "4.3.0")
"""The lower bound, and the newest release of every line."""
PYTHONS = ("3.11", "3.12", "3.13")
TESTS = (
    "tests/unit",
    "tests/properties/test_query_matches_oracle.py",
    "tests/spark/test_bounded.py",
    "tests/spark/test_streaming.py",
    "tests/spark/test_native.py",
    "tests/spark/test_joins.py",
    "tests/spark/test_datasets.py",
    "tests/spark/test_plain_scans.py",
    "tests/spark/test_file_streams.py",
    "tests/spark/test_golden_checkpoint.py",
)
PACKAGES = ("hypothesis", "pytest>=8.4", "pytest-xdist>=3.8", "pyyaml", "scipy")
LOWEST_WITH_NEW_PYTHONS = SPARKS[-1]
"""The release that is tried with all Pythons; the others with the lowest one only."""
NEEDS_SPARK = "spark and not campaign and not browser and not pipeline and not cluster"
"""What the lowest Python runs: all else does not depend on PySpark, and `make test` runs it."""


def interpreters() -> dict[str, str]:
    """The Pythons that are installed here, by version."""
    found = {}
    for version in PYTHONS:
        for python in _candidates(version):
            code = "import ensurepip, sys; print('%d.%d' % sys.version_info[:2])"
            said = subprocess.run([python, "-c", code], capture_output=True, text=True)
            if said.returncode == 0 and said.stdout.strip() == version:
                found[version] = python
                break
    return found


def _candidates(version: str) -> Iterator[str]:
    on_path = shutil.which(f"python{version}")
    if on_path is not None:
        yield on_path
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    yield from (str(each) for each in sorted(root.glob(f"{version}.*/bin/python{version}")))


def pairs(pythons: dict[str, str]) -> list[tuple[str, str]]:
    """Which releases of PySpark are tried with which Pythons."""
    lowest = min(pythons)
    return [
        (spark, python)
        for spark in SPARKS
        for python in pythons
        if python == lowest or spark == LOWEST_WITH_NEW_PYTHONS
    ]


def tried(spark: str, python: str, interpreter: str) -> str:
    """What pytest says at its end for the pair, or what went wrong before."""
    name = f"{spark}-{python}"
    home = FOLDER / name
    log = home.with_suffix(f"{home.suffix}.log")
    log.unlink(missing_ok=True)
    own = home / "bin" / "python"
    selected = ["-m", NEEDS_SPARK] if python == PYTHONS[0] else []
    steps = [
        [interpreter, "-m", "venv", "--clear", str(home)],
        [str(own), "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
         "--editable", f"{ROOT}[cli,metrics,otel,spark]", f"pyspark=={spark}", *PACKAGES],
        [str(own), "-m", "pytest", "-q", "-p", "no:cacheprovider", "--numprocesses", "2",
         "--dist", "loadfile", *selected, *TESTS],
    ]  # fmt: skip
    environment = {
        **os.environ, "PYSPARK_PYTHON": str(own), "HYPOTHESIS_PROFILE": "quick",
        "PATH": f"{own.parent}{os.pathsep}{os.environ['PATH']}",
    }  # fmt: skip
    for name in ("SPARK_HOME", "PYTHONPATH", "PYENV_VERSION"):
        environment.pop(name, None)
    with log.open("w") as output:
        for step in steps:
            done = subprocess.run(
                step, cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT
            )
            if done.returncode:
                break
    lines = log.read_text().strip().split("\n")
    return f"{'passed' if done.returncode == 0 else 'FAILED'}: {lines[-1].strip('= ')} ({log})"


def main(wanted: list[str]) -> int:
    FOLDER.mkdir(parents=True, exist_ok=True)
    pythons = interpreters()
    for version in PYTHONS:
        if version not in pythons:
            print(f"Python {version} is not installed here: left out")
    results = []
    for spark, python in pairs(pythons):
        if wanted and f"{spark}-{python}" not in wanted:
            continue
        begun = time.monotonic()
        result = tried(spark, python, pythons[python])
        minutes = (time.monotonic() - begun) / 60
        print(f"PySpark {spark}, Python {python}: {result}, {minutes:.0f} min", flush=True)
        results.append(result)
    counts = [sum(r.startswith(word) for r in results) for word in ("passed", "FAILED")]
    print(f"{counts[0]} passed, {counts[1]} failed")
    return int(counts[1] > 0 or not results)


if __name__ == "__main__":
    if any(not re.fullmatch(r"\d+\.\d+\.\d+-\d+\.\d+", name) for name in sys.argv[1:]):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
