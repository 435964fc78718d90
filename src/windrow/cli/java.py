"""The Java that Spark would start."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec

LEAST = 17
"""The oldest Java that Spark 4 runs on."""


@dataclass(frozen=True)
class Java:
    """A Java: the command, and its major version; 0 if it does not run."""

    path: str
    version: int


def find_java() -> Java | None:
    """The Java in JAVA_HOME, or else the first on the PATH, as Spark's scripts look for it."""
    home = os.environ.get("JAVA_HOME")
    path = os.path.join(home, "bin", "java") if home else shutil.which("java")
    if path is None:
        return None
    command = [path, "-XshowSettings:properties", "-version"]
    try:
        said = subprocess.run(command, capture_output=True, text=True).stderr
    except OSError:
        return Java(path, 0)
    found = re.search(r"java\.specification\.version = (?:1\.)?(\d+)", said)
    return Java(path, int(found[1]) if found else 0)


def can_start_spark() -> bool:
    """Whether there are a PySpark and a Java that runs it."""
    found = find_java()
    return find_spec("pyspark") is not None and found is not None and found.version >= LEAST
