"""The parallel patterns and their nesting."""

from windrow.patterns.rules import check_pattern
from windrow.patterns.tree import (
    KeyFarm,
    PaneFarm,
    Pattern,
    WinFarm,
    WinMapReduce,
    WinSeq,
)

__all__ = [
    "KeyFarm",
    "PaneFarm",
    "Pattern",
    "WinFarm",
    "WinMapReduce",
    "WinSeq",
    "check_pattern",
]
