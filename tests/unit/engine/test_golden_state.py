"""State that an earlier commit stored is read, and goes on to the oracle's results."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import golden_state
from tests.golden_state import (
    BATCH,
    BEFORE,
    FOLDER,
    ROWS,
    SCENARIOS,
    Scenario,
    read,
    restarted,
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


every_scenario = pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.name)


@every_scenario
def test_golden_state_is_read_and_goes_on(scenario: Scenario) -> None:
    assert all_given(scenario, FOLDER / f"{scenario.name}.zip") == scenario.expected()


@every_scenario
def test_so_is_state_that_is_stored_now(scenario: Scenario, tmp_path: Path) -> None:
    write(scenario, tmp_path / "now.zip")
    assert all_given(scenario, tmp_path / "now.zip") == scenario.expected()


def test_a_version_is_never_written_again() -> None:
    with pytest.raises(SystemExit, match="exists"):
        golden_state.main()
