"""Python workers of Spark do not look at loaded modules when they search for garbage."""

from __future__ import annotations

import gc
from itertools import count

import pytest

from windrow.spark import garbage


def test_modules_are_spared_before_the_first_tasks_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage, "_begun", count(1))
    try:
        garbage.spare_modules()
        garbage.spare_modules()
        spared = gc.get_freeze_count()
        assert spared > 0
        later = [[each] for each in range(1_000)]
        garbage.spare_modules()
        assert gc.get_freeze_count() < spared + len(later)
    finally:
        gc.unfreeze()
