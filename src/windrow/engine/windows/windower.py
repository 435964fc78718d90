"""The windower of a model: which windows of which keys fire as the watermark moves on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from windrow.core.errors import WindrowError
from windrow.core.models import Axis, WindowModel
from windrow.engine.columns.arrays import Int64s
from windrow.engine.windows.buffer import WindowBuffer
from windrow.engine.windows.fired import FiredWindows
from windrow.engine.windows.placing import next_ranks

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Share:
    """Which windows are computed here: those of the hosted ones of n workers.

    Window i of a key is worker ``(hash + i // batch) mod n``'s.
    """

    hosted: Mask = field(default_factory=lambda: np.ones(1, np.bool_))
    batch: int = 1

    @property
    def n(self) -> int:
        return len(self.hosted)

    @staticmethod
    def of(worker: int, n: int, batch: int = 1) -> Share:
        return Share(np.arange(n) == worker, batch)

    def hosts(self, shifts: Int64s, ids: Int64s) -> Mask:
        """Whether windows are computed here; ``shifts`` are the hashes of their keys modulo n."""
        is_hosted: Mask = self.hosted[(shifts + ids // self.batch) % self.n]
        return is_hosted


@dataclass(frozen=True)
class Late:
    """What becomes of late tuples; a tuple between hopping windows is neither kept nor lost."""

    is_kept: Mask
    """Those that count in a window that has not fired."""
    is_lost: Mask
    """Those whose windows have all fired."""
    last_id: Int64s | None = None
    """The last window of each tuple, where its own position tells its windows."""


class Windower(ABC):
    """The windows of one model over a buffer; its state is a few numbers per key.

    A subclass is registered for its model with ``register_windower``, names the numbers it
    ``remembers`` and finds them, one array per name, in ``by_key``; they are 0 for a new key.
    Where windows lie on the axis of ranks, ``count`` is among them without being named.
    """

    remembers: ClassVar[tuple[str, ...]] = ()
    """What it knows of each key. Under ``count`` the tuples that took their place are counted."""
    may_precede_evicted: ClassVar[bool] = False
    """Whether a late tuple that is kept may stand before tuples already evicted."""

    def __init__(self, model: WindowModel, share: Share | None = None, pane: int = 1) -> None:
        self.model, self.share = model, share or Share()
        self.pane = pane
        """How many tuples a rank in the buffer stands for: with panes in place of tuples, many."""
        counted = ("count",) if model.axis is Axis.RANK else ()
        self.by_key: dict[str, NDArray[Any]] = {
            name: np.zeros(0, np.int64) for name in (*counted, *self.remembers)
        }
        self.shifts = np.zeros(0, np.int64)
        """The hashes of the keys modulo the number of workers that share the windows."""

    @abstractmethod
    def fire(self, buffer: WindowBuffer, watermark: int) -> FiredWindows:
        """The windows that fire at the watermark, in order of key.

        Key k's tuples are at ``buffer.head[k]`` to ``buffer.tail[k]`` of ``buffer.columns``, with
        their places on the model's axis in ``buffer.axis``. Tuples that no later window holds are
        evicted by moving ``buffer.head`` on. At END_OF_STREAM open windows may fire as they are.
        """

    def pass_by(self, watermark: int) -> None:
        """Move on to the watermark before there is any tuple."""
        return

    def judge_late(
        self, positions: Int64s, codes: Int64s, reached: int, buffer: WindowBuffer
    ) -> Late:
        """What becomes of tuples that come behind ``reached``: none finds a place among others."""
        return Late(np.zeros(len(codes), np.bool_), np.ones(len(codes), np.bool_))

    def add_keys(self, shifts: Int64s) -> None:
        """Know more keys."""
        self.shifts = np.concatenate([self.shifts, shifts])
        for name, known in self.by_key.items():
            self.by_key[name] = np.concatenate([known, np.zeros(len(shifts), known.dtype)])

    def forget_keys(self) -> None:
        """Know no key any more."""
        self.shifts = self.shifts[:0]
        self.by_key = {name: known[:0] for name, known in self.by_key.items()}

    def place(self, codes: Int64s, ranks: Int64s | None = None) -> Int64s | None:
        """Count tuples, in order of key, as they take their place; their ranks, if it counts.

        Tuples that have been ranked before bring their ranks along.
        """
        count = self.by_key.get("count")
        if count is None:
            return None
        if ranks is None:
            return next_ranks(codes, count)
        last = np.flatnonzero(np.diff(codes, append=-1))
        count[codes[last]] = np.maximum(count[codes[last]], ranks[last] + 1)
        return ranks

    def merged(self, keys: Int64s) -> None:
        """Late tuples now stand among the tuples held of these keys."""
        return

    def scalars(self) -> dict[str, Any]:
        """What it knows besides ``by_key``."""
        return {}

    def restore(self, by_key: dict[str, NDArray[Any]], scalars: dict[str, Any]) -> None:
        """Take up the state of another windower of this model."""
        self.by_key = {name: by_key[name].copy() for name in self.by_key}


class RefusedTuple(WindrowError):
    """A tuple that the model does not allow; the worker, which knows the key's value, names it."""

    def __init__(self, rule: str, got: str, hint: str, key: int) -> None:
        super().__init__(rule, got, hint)
        self.key = key

    def of_key(self, value: Any) -> WindrowError:
        return WindrowError(f"{self.rule}, key {value!r}", self.got, self.hint)


_WINDOWERS: dict[type[WindowModel], type[Windower]] = {}
Kind = TypeVar("Kind", bound=type[Windower])


def register_windower(*models: type[WindowModel]) -> Callable[[Kind], Kind]:
    """Class decorator: the windower of these models, and of those derived from them."""

    def register(windower: Kind) -> Kind:
        _WINDOWERS.update(dict.fromkeys(models, windower))
        return windower

    return register


def windower_class(model: WindowModel) -> type[Windower]:
    """The windower registered for the model's class or its nearest base.

    It is looked up where a query is lowered and travels with the workers: in a Spark worker,
    nothing needs to have been registered.
    """
    for base in type(model).__mro__:
        if base in _WINDOWERS:
            return _WINDOWERS[base]
    name = type(model).__name__
    hint = f"decorate its windower with @register_windower({name})."
    raise WindrowError("a window model needs a windower", name, hint)
