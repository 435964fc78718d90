"""What the state of a stream's stages tells of its keys."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from windrow.spark import checkpoint_contents


def statistics(monkeypatch: pytest.MonkeyPatch, *stages: tuple[int, float]) -> tuple[Any, Any]:
    """Keys and skew, where each stage has so many keys, of which one has a share of its rows."""
    held = {i: SimpleNamespace(keys=k, greatest_share=s) for i, (k, s) in enumerate(stages)}
    monkeypatch.setattr(checkpoint_contents, "contents_of", lambda *_: (held, {}))
    session: Any = None
    found = checkpoint_contents.statistics_of(session, "checkpoint")
    return found.keys, found.skew


def test_the_stage_that_shows_a_frequent_key_tells_its_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert statistics(monkeypatch, (100, 0.4), (100, 0.01)) == (100, 0.4)
    assert statistics(monkeypatch, (90, 0.4), (100, 0.01)) == (100, 0.4)


def test_a_stage_of_hot_keys_alone_tells_nothing_of_their_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert statistics(monkeypatch, (100, 0.4), (1, 1.0)) == (100, 0.4)
    assert statistics(monkeypatch, (100, 0.01), (1, 1.0)) == (100, None)
