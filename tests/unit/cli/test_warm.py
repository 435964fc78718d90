from __future__ import annotations

from pathlib import Path

import pytest

import windrow as wr
from windrow import functions as wf
from windrow.cli import kernel_queries
from windrow.cli.__main__ import main
from windrow.kernels import kernel_cache


def test_warm_keeps_what_queries_compile_and_says_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernel_cache, "_gathered_in", [])
    monkeypatch.setattr(kernel_queries, "MODELS", [wr.CountWindow(12, 5)])
    monkeypatch.setattr(kernel_queries, "PATTERNS", [wr.WinSeq()])
    monkeypatch.setattr(kernel_queries, "reductions", lambda: [kernel_queries.NUMBERS])
    monkeypatch.setattr(kernel_queries, "predicates", lambda: [wr.equi("key")])
    with pytest.raises(SystemExit, match="0"):
        main(["warm", str(tmp_path)])
    place = kernel_cache.folders()[0]
    assert place == kernel_cache.folder_in(tmp_path)
    printed = capsys.readouterr().out
    assert f"{len(list(place.glob('*.nbc')))}, " in printed and str(place) in printed


def test_warm_refuses_a_folder_that_cannot_be_written(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["warm", "/dev/null/kernels"])
    said = capsys.readouterr().err
    assert "must be kept in a folder that can be written" in said and "windrow warm FOLDER" in said


def test_the_queries_know_every_model_and_every_function_of_the_library() -> None:
    assert {type(model) for model in kernel_queries.MODELS} == {
        wr.CountWindow,
        wr.TimeWindow,
        wr.LandmarkWindow,
        wr.SlideByTupleWindow,
        wr.SlideByTimeWindow,
        wr.DeltaWindow,
        wr.SessionWindow,
    }
    used = {type(f) for functions in kernel_queries.FUNCTIONS for f in functions.values()}
    assert {type(f) for f in every_function()} <= used


def every_function() -> list[object]:
    fixed = {
        "count": (),
        "top_k": ("x", 1),
        "polynomial_fit": ("x", "y", 1),
        "quantile": ("x", 0.5),
    }
    of_two = ("arg_max", "arg_min", "linear_regression")
    return [
        getattr(wf, name)(*fixed.get(name, ("x", "y") if name in of_two else ("x",)))
        for name in wf.__all__
    ]
