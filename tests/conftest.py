"""Hypothesis profiles: `ci` by default, `thorough` for long campaigns; one Spark session."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile("ci", deadline=None, max_examples=200, suppress_health_check=_QUIET)
settings.register_profile("thorough", parent=settings.get_profile("ci"), max_examples=5000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

pytest_plugins = ["tests.spark_session"]
