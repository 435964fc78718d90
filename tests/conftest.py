"""Hypothesis profiles, the order of the files, and one Spark session."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.effort import USUAL

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]
_ANEW = settings(deadline=None, derandomize=False, suppress_health_check=_QUIET)
# Continuous integration draws the same examples each time; the others draw new ones.
settings.register_profile("ci", parent=_ANEW, max_examples=USUAL, derandomize=True, database=None)
settings.register_profile("quick", parent=_ANEW, max_examples=40)
settings.register_profile("thorough", parent=_ANEW, max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

pytest_plugins = ["tests.spark_session"]

ROOT = Path(__file__).parents[1]
# Plans must not depend on what somebody has measured on this machine.
os.environ["WINDROW_CONSTANTS"] = os.path.join(os.devnull, "constants.json")
LONGEST_FIRST = [
    "tests/spark/test_streaming_matrix.py",
    "tests/e2e/test_restarts.py",
    "tests/spark/test_matrix.py",
    "tests/spark/test_streaming_state.py",
    "tests/spark/test_streaming.py",
    "tests/spark/test_chains.py",
    "tests/spark/test_cluster.py",
    "tests/transcripts/test_transcripts_on_spark.py",
    "tests/spark/test_joins.py",
    "tests/spark/test_types.py",
    "tests/spark/test_every_type.py",
    "tests/properties/test_patterns_match_oracle.py",
    "tests/spark/test_native.py",
    "tests/properties/test_joins_match_oracle.py",
    "tests/properties/test_late_tuples.py",
    "tests/spark/test_a_new_model.py",
    "tests/e2e/test_examples.py",
    "tests/e2e/test_demo.py",
]
"""The files that take longest. They come first, so that no process ends up alone with one."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first; the others stay in the order in which they were found."""
    places = {ROOT / name: place for place, name in enumerate(LONGEST_FIRST)}
    items.sort(key=lambda item: places.get(item.path, len(places)))
