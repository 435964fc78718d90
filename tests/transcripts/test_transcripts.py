"""The transcripts hold in process, step by step, and over a bounded table."""

from __future__ import annotations

import pytest

from tests.transcripts.transcripts import (
    COMPUTATIONS,
    MILLISECOND,
    PATTERNS,
    TRANSCRIPTS,
    base_query,
    expected_in_all,
    expected_rows,
    got_rows,
    input_of,
    is_legal,
    table_of,
)
from windrow.engine.in_process import DROPPED, WindowRunner
from windrow.patterns import Pattern
from windrow.patterns.windows import window_stages

CASES = [
    pytest.param(name, computation, pattern, id=f"{name}-{computation}-{pattern}")
    for name, transcript in TRANSCRIPTS.items()
    for computation, compute in COMPUTATIONS.items()
    for pattern in PATTERNS
    if is_legal(compute(base_query(transcript, table_of(transcript, []))), pattern)
]


@pytest.mark.parametrize(("name", "computation", "pattern"), CASES)
def test_in_process(name: str, computation: str, pattern: Pattern) -> None:
    transcript = TRANSCRIPTS[name]
    empty = table_of(transcript, [])
    query = COMPUTATIONS[computation](base_query(transcript, empty)).window_query()
    runner = WindowRunner(query, window_stages(query, pattern))
    for i, step in enumerate(transcript["steps"]):
        if "finish" in step:
            fired = runner.finish()
        else:
            fired = runner.push(table_of(transcript, step["input"]))
            if "watermark" in step:
                fired += runner.advance(step["watermark"] * MILLISECOND)
        expected = expected_rows(transcript, step, computation)
        assert got_rows(fired) == expected, f"step {i}"
    assert runner.dropped == transcript["dropped"]


@pytest.mark.parametrize("computation", COMPUTATIONS)
@pytest.mark.parametrize("name", [n for n, t in TRANSCRIPTS.items() if t.get("bounded") == "same"])
def test_bounded_table(name: str, computation: str) -> None:
    transcript = TRANSCRIPTS[name]
    table = table_of(transcript, input_of(transcript))
    result = COMPUTATIONS[computation](base_query(transcript, table)).collect()
    assert got_rows([result]) == expected_in_all(transcript, computation)
    assert int(result.schema.metadata[DROPPED]) == transcript["dropped"]


@pytest.mark.parametrize("name", TRANSCRIPTS)
def test_transcript_is_well_formed(name: str) -> None:
    transcript = TRANSCRIPTS[name]
    known = {"about", "window", "columns", "order_by", "bounded", "steps", "dropped"}
    assert transcript.keys() <= known
    watermarks = [s["watermark"] for s in transcript["steps"] if "watermark" in s]
    assert watermarks == sorted(watermarks)
    assert [s for s in transcript["steps"] if "finish" in s] == transcript["steps"][-1:]
