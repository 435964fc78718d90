"""State that an earlier commit stored goes on to the oracle's results, or is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import windrow as wr
from tests import golden_state
from tests.golden_state import (
    BATCH,
    BEFORE,
    FOLDER,
    GOLDEN,
    ROWS,
    SCENARIOS,
    Scenario,
    read,
    restarted,
    stored_by_versions,
    write,
)


def all_given(scenario: Scenario, path: Path) -> golden_state.Given:
    """What was given before the state was stored, and what follows, with a restart per batch."""
    runner, stores, given = read(scenario, path)
    assert given, "something was given before"
    for number in range(BEFORE, len(ROWS) // BATCH):
        given += scenario.run(runner, range(number, number + 1))
        runner, stores = restarted(scenario, runner, stores)
    return given + scenario.words(runner.finish())


STORED = stored_by_versions()


@pytest.mark.parametrize(
    ("scenario", "path"), STORED, ids=[f"{path.parent.name}-{s.name}" for s, path in STORED]
)
def test_golden_state_is_read_and_goes_on(scenario: Scenario, path: Path) -> None:
    assert all_given(scenario, path) == scenario.expected()


OTHER_LAYOUT = sorted((GOLDEN / "state-v2-other-layout").iterdir())


@pytest.mark.parametrize("path", OTHER_LAYOUT, ids=lambda path: path.name)
def test_state_in_another_layout_is_refused_and_the_versions_are_named(path: Path) -> None:
    (scenario,) = (s for s in SCENARIOS if path.name == f"{s.name}.zip.xz")
    with pytest.raises(wr.WindrowError, match="layout of an older version") as raised:
        read(scenario, path)
    versions = f"state format 2, written by Windrow 0.1.0; Windrow {wr.__version__} writes 4, and"
    assert str(raised.value.got).startswith(versions)


def test_every_scenario_is_kept() -> None:
    assert {s.name for s, path in STORED if path.parent == FOLDER} == {s.name for s in SCENARIOS}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)
def test_so_is_state_that_is_stored_now(scenario: Scenario, tmp_path: Path) -> None:
    write(scenario, tmp_path / "now.zip.xz")
    assert all_given(scenario, tmp_path / "now.zip.xz") == scenario.expected()


def test_a_version_is_never_written_again() -> None:
    with pytest.raises(SystemExit, match="exists"):
        golden_state.main()
