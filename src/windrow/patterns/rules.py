"""Which patterns a window model and a function allow; others raise an error with the reason."""

from __future__ import annotations

from windrow.core.computation import Computation, Decompose
from windrow.core.errors import WindrowError
from windrow.core.models import Context, WindowModel
from windrow.patterns.tree import KeyFarm, PaneFarm, Pattern, WinFarm, WinMapReduce


def check_pattern(pattern: Pattern, model: WindowModel, computation: Computation) -> None:
    """Raise unless ``pattern`` computes this function on this window model correctly."""
    if isinstance(pattern, KeyFarm) and pattern.hot is not None:
        pattern = pattern.hot
    if isinstance(pattern, WinFarm) and pattern.workers == "active":
        _check_active(pattern, model)
    inner = pattern.inner if isinstance(pattern, KeyFarm | WinFarm) else pattern
    if isinstance(inner, PaneFarm | WinMapReduce):
        _check_decomposable(inner, computation)
    if isinstance(inner, PaneFarm):
        _check_panes(inner, model)
        if isinstance(computation, Decompose) and len(computation.rounds) > 1:
            raise WindrowError(
                "PaneFarm shares the result of a pane between windows, so decompose can have only "
                "one round",
                f"{len(computation.rounds)} rounds",
                "use WinMapReduce.",
            )


def _check_active(pattern: WinFarm, model: WindowModel) -> None:
    if model.context is Context.CF:
        return
    needs = "the rows before it" if model.context is Context.FCF else "rows after it"
    raise WindrowError(
        f"active WinFarm workers need a row's windows when it arrives, but {_name(model)} "
        f"is {model.context.name}: a row's windows depend on {needs}",
        repr(pattern),
        f'use WinFarm({pattern.n}, workers="agnostic"), or a KeyFarm.',
    )


def _check_decomposable(pattern: Pattern, computation: Computation) -> None:
    if not computation.is_decomposable:
        raise WindrowError(
            f"{pattern.name} computes a window in pieces, which an opaque function does not allow",
            f"{type(computation).__name__.lower()}()",
            "use agg() or decompose(partial=, combine=), or a KeyFarm or WinFarm of WinSeq.",
        )


def _check_panes(pattern: PaneFarm, model: WindowModel) -> None:
    if model.pane_length is None:
        raise WindrowError(
            f"PaneFarm needs windows made of panes of gcd(length, slide); {_name(model)} has none",
            repr(model),
            "use WinMapReduce, KeyFarm, or WinFarm with agnostic workers.",
        )


def _name(model: WindowModel) -> str:
    return type(model).__name__
