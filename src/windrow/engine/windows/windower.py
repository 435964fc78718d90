"""The windower of a model decides which windows fire as the watermark advances."""

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
from windrow.engine.columns.hot_keys import HotKeys
from windrow.engine.windows.buffer import WindowBuffer
from windrow.engine.windows.fired import FiredWindows
from windrow.engine.windows.placing import next_ranks
from windrow.kernels.hashing import Hashes

Mask = NDArray[np.bool_]
NOT_SHARED = -1
"""The shift of a key all of whose windows are computed by one worker."""


@dataclass(frozen=True)
class Share:
    """The share of the windows that is computed here.

    Window i of a key belongs to worker ``(hash(key) + i // batch) mod n``. The share consists of
    the windows of the ``hosted`` workers and, if only the windows of ``hot`` keys are shared, of
    all windows of other keys.
    """

    hosted: Mask = field(default_factory=lambda: np.ones(1, np.bool_))
    batch: int = 1
    hot: HotKeys | None = None

    @property
    def n(self) -> int:
        return len(self.hosted)

    @staticmethod
    def of(worker: int, n: int, batch: int = 1, hot: HotKeys | None = None) -> Share:
        return Share(np.arange(n) == worker, batch, hot)

    def shifts(self, hashes: Hashes) -> Int64s:
        """How the windows of keys with these hashes are shifted among the workers."""
        shifts = (hashes % np.uint64(self.n)).astype(np.int64)
        return shifts if self.hot is None else np.where(self.hot.among(hashes), shifts, NOT_SHARED)

    def hosts(self, shifts: Int64s, ids: Int64s) -> Mask:
        """Which windows of keys with these shifts are computed here."""
        is_hosted = self.hosted[(shifts + ids // self.batch) % self.n]
        found: Mask = is_hosted | (shifts == NOT_SHARED)
        return found

    def last_hosted(self, shifts: Int64s, ids: Int64s) -> Int64s:
        """The last windows up to ``ids`` that are computed here."""
        if self.n == 1:
            return ids
        block = ids // self.batch
        workers = np.arange(self.n)
        # For each worker, how many blocks before one of its own a block of a hosted worker is.
        back = np.argmax(self.hosted[(workers[:, None] - workers) % self.n], axis=1)
        steps = back[(shifts + block) % self.n]
        is_own = (steps == 0) | (shifts == NOT_SHARED)
        return np.where(is_own, ids, (block - steps + 1) * self.batch - 1)


@dataclass(frozen=True)
class Late:
    """Which late tuples are kept and lost. A tuple between hopping windows is neither."""

    is_kept: Mask
    """The tuples that count in a window of this share that has not fired."""
    is_lost: Mask
    """The tuples whose windows, of all shares, have all fired."""
    last_id: Int64s | None = None
    """The last window of each tuple, for models where the tuple's position determines it."""


class Windower(ABC):
    """Finds the windows of one model in a buffer. Its state is a few numbers per key.

    A subclass is registered for its model with ``register_windower``. It lists the names of its
    numbers in ``remembers``; ``by_key`` has an array for each name, with 0 for new keys. A windower
    of ranks has ``count`` without listing it.
    """

    remembers: ClassVar[tuple[str, ...]] = ()
    """Names of the numbers kept per key. ``count`` is the number of tuples placed so far."""
    may_precede_evicted: ClassVar[bool] = False
    """Whether a late tuple that is kept may come before tuples that were already evicted."""

    def __init__(self, model: WindowModel, share: Share | None = None, pane: int = 1) -> None:
        self.model, self.share = model, share or Share()
        self.pane = pane
        """How many tuples one rank in the buffer stands for: more than one if it holds panes."""
        counted = ("count",) if model.axis is Axis.RANK else ()
        self.by_key: dict[str, NDArray[Any]] = {
            name: np.zeros(0, np.int64) for name in (*counted, *self.remembers)
        }
        self.shifts = np.zeros(0, np.int64)
        """How each key's windows are shifted among the workers that share them."""

    @abstractmethod
    def fire(self, buffer: WindowBuffer, watermark: int) -> FiredWindows:
        """The windows that fire at the watermark, in order of key.

        The tuples of key k are ``buffer.head[k]`` to ``buffer.tail[k]`` of ``buffer.columns``;
        ``buffer.axis`` has their positions on the model's axis. This method advances
        ``buffer.head`` to evict tuples that no later window contains. At END_OF_STREAM, open
        windows may fire as they are.
        """

    def pass_by(self, watermark: int) -> None:
        """Advance to the watermark before the first tuple has arrived."""
        return

    def judge_late(
        self, positions: Int64s, codes: Int64s, reached: int, buffer: WindowBuffer
    ) -> Late:
        """Judge tuples that arrive behind the watermark ``reached``. By default, all are lost."""
        return Late(np.zeros(len(codes), np.bool_), np.ones(len(codes), np.bool_))

    def add_keys(self, shifts: Int64s) -> None:
        """Add keys with these ``shifts``."""
        self.shifts = np.concatenate([self.shifts, shifts])
        for name, known in self.by_key.items():
            self.by_key[name] = np.concatenate([known, np.zeros(len(shifts), known.dtype)])

    def forget_keys(self) -> None:
        """Forget all keys."""
        self.shifts = self.shifts[:0]
        self.by_key = {name: known[:0] for name, known in self.by_key.items()}

    def place(self, codes: Int64s, ranks: Int64s | None = None) -> Int64s | None:
        """Count tuples, given in order of key, and return their ranks; None if it keeps no count.

        ``ranks`` are those of tuples that were ranked earlier.
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
        """Take note that late tuples were merged into the tuples held of these keys."""
        return

    def scalars(self) -> dict[str, Any]:
        """The state that is not kept per key."""
        return {}

    def restore(self, by_key: dict[str, NDArray[Any]], scalars: dict[str, Any]) -> None:
        """Take over the state of another windower of this model."""
        self.by_key = {name: by_key[name].copy() for name in self.by_key}


class RefusedTuple(WindrowError):
    """The model does not allow a tuple. The worker adds the key's value to the message."""

    def __init__(self, rule: str, got: str, hint: str, key: int) -> None:
        super().__init__(rule, got, hint)
        self.key = key

    def of_key(self, value: Any) -> WindrowError:
        return WindrowError(f"{self.rule}, key {value!r}", self.got, self.hint)


_WINDOWERS: dict[type[WindowModel], type[Windower]] = {}
Kind = TypeVar("Kind", bound=type[Windower])


def register_windower(*models: type[WindowModel]) -> Callable[[Kind], Kind]:
    """Class decorator that registers a windower for these models and their subclasses."""

    def register(windower: Kind) -> Kind:
        _WINDOWERS.update(dict.fromkeys(models, windower))
        return windower

    return register


def windower_class(model: WindowModel) -> type[Windower]:
    """The windower registered for the model's class or its nearest base class.

    It is looked up on the driver when a query is lowered, and is sent along with the workers. So
    Spark's Python workers need no registrations.
    """
    for base in type(model).__mro__:
        if base in _WINDOWERS:
            return _WINDOWERS[base]
    name = type(model).__name__
    hint = f"decorate its windower with @register_windower({name})."
    raise WindrowError("a window model needs a windower", name, hint)
