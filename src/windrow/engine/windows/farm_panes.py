"""The panes of the instances of a window farm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from windrow.core.models import MappedWindow
from windrow.engine.columns.arrays import Int64s


@dataclass(frozen=True)
class FarmPanes:
    """The panes in one of ``n`` instances that share the windows of a key.

    An instance computes every n-th window, so it sees windows that slide by n*slide, and its panes
    have the length gcd(length, n*slide) (Mencagli 2019, section V.A). This is ``span`` times
    gcd(length, slide). A pane has the number of the first of the ``span`` panes in it. Where panes
    start depends on the first window that the instance computes, and so on the hash of the key.
    """

    model: MappedWindow
    n: int
    span: int

    @staticmethod
    def of(model: MappedWindow, n: int, batch: int) -> FarmPanes:
        """In batches, windows of an instance slide by ``slide``, and so panes stay as they are."""
        return FarmPanes(model, n, model.pane_span(n) if batch == 1 else 1)

    @property
    def length(self) -> str:
        """The formula of their length."""
        return "gcd(length, slide)" if self.span == 1 else f"gcd(length, {self.n}*slide)"

    def windows(self) -> MappedWindow:
        """The panes of all instances, as windows."""
        return self.model.panes() if self.span == 1 else self.model.panes(self.span)

    def first(self, shifts: Int64s, instance: int) -> Int64s:
        """The first pane from 0 on of keys with these hashes modulo n; each ``span``-th follows."""
        if self.span == 1:
            return np.zeros(len(shifts), np.int64)
        starts, _ = self.model.in_panes().bounds(np.arange(2))
        found: Int64s = (instance - shifts) % self.n * int(starts[1] - starts[0]) % self.span
        return found

    def numbers(self, positions: Int64s, shifts: Int64s, instance: int) -> Int64s:
        """The pane of each tuple."""
        panes, _ = self.model.panes().mapping(positions)
        return panes - (panes - self.first(shifts, instance)) % self.span
