"""What stored state holds is counted without its workers."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.golden_state import BATCH, BEFORE, FOLDER, ROWS, SCENARIOS, Scenario, Windows, read
from windrow.engine.state.contents import Contents

CAME = ROWS[: BEFORE * BATCH]


HOLDING_NOTHING = {"farm-of-panes": (0,)}
"""The stages of scenarios whose workers hold nothing: they pass partials of panes on."""


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
def test_rows_keys_and_bytes_of_every_kind_of_state_are_counted(scenario: Scenario) -> None:
    runner, stores, _ = read(scenario, FOLDER / f"{scenario.name}.zip.xz")
    for stage in {stage for stage, _ in stores}:
        own = {n: store for (s, n), (_, store) in stores.items() if s == stage}
        headers = {n: store.blobs[""] for n, store in own.items()}
        blobs = [(n, name, b) for n, s in own.items() for name, b in s.blobs.items() if name]
        found = Contents(headers, reversed(blobs))
        assert found.workers == len(own)
        assert found.header["query"].keys() <= scenario.identity.keys()
        assert found.bytes == sum(len(blob) for _, _, blob in blobs)
        assert found.dropped == 0
        biggest = found.biggest(3)
        assert len(biggest) == min(3, found.keys)
        assert [rows for _, rows in biggest] == sorted((r for _, r in biggest), reverse=True)
        holds_nothing = stage in HOLDING_NOTHING.get(scenario.name, ())
        if isinstance(scenario, Windows) and scenario.keys and not holds_nothing:
            assert found.keys == len({tuple(row[k] for k in scenario.keys) for row in CAME})
            assert sum(rows for _, rows in found.biggest(100)) == found.rows > 0
        else:
            assert found.keys == 0
        if found.watermark is not None:
            assert found.watermark == runner.watermark


def test_every_row_of_a_key_counts_until_its_windows_have_fired() -> None:
    (scenario,) = (s for s in SCENARIOS if s.name == "sessions")
    _, stores, _ = read(scenario, FOLDER / "sessions.zip.xz")
    headers = {n: store.blobs[""] for (_, n), (_, store) in stores.items()}
    blobs = [
        (n, name, b) for (_, n), (_, s) in stores.items() for name, b in s.blobs.items() if name
    ]
    found: dict[Any, int] = dict(Contents(headers, blobs).biggest(100))
    came = Counter(row["k"] for row in CAME)
    assert found.keys() == came.keys()
    for key, rows in found.items():
        assert 0 < rows <= came[key]
