"""What the steps of a query cost in this runtime."""

from __future__ import annotations

from dataclasses import dataclass

USUAL_WIDTH = 40.0
"""The bytes of the rows that constants are for: a key, a time and a number, with their control."""


@dataclass(frozen=True)
class Constants:
    """Times of one core, in microseconds.

    The defaults are for PySpark 4.3 on one server. Those of the engine were measured in process;
    those of Spark were fitted to the times that the plans of ``bench_planner`` take on two cores.
    That tells ``exchange``, ``keep`` and ``hand_over`` together better than each of them. ``state``
    is an estimate. ``windrow calibrate`` measures all of them on a machine.
    """

    hand_over: float = 0.4
    """A row from the JVM to Python."""
    read: float = 0.09
    """A row that a task reads from a Parquet file itself."""
    exchange: float = 0.05
    """A row that an emitter routes and packs, Spark shuffles, and a worker unpacks."""
    keep: float = 0.12
    """A row that a worker sorts into the window buffer of its key."""
    reduce: float = 0.035
    """A row that is added to the partials of its pane."""
    piece: float = 0.35
    """A partial of a pane or of a part of a window: made, sent or merged."""
    window: float = 0.33
    """A window that fires, with a built-in function, and its result on the way back to Spark."""
    call: float = 2.0
    """A call of a user's function for a window, beside the function itself."""
    fold: float = 2.7
    """A row of a window that goes through a user's ``update``."""
    lift: float = 0.4
    """A row that goes through ``lift`` and ``combine`` of a user's aggregate."""
    of_few: float = 0.05
    """A row for a function whose partials are small, such as a variance, beside keeping it."""
    of_all: float = 0.06
    """A row for a function that needs all rows, such as a median, beside keeping it."""
    native_row: float = 0.03
    """A row that Spark's own aggregation takes in."""
    native_value: float = 0.9
    """A row that it takes in for a function that keeps values, such as a median."""
    native_read: float = 0.05
    """A row that Spark's own reader reads from a Parquet file for it."""
    native_group: float = 1.5
    """A group of that aggregation: shuffled, merged and, if it is a pane, handed over."""
    pair: float = 0.004
    """T_on: a pair of rows that a join's predicate is evaluated on."""
    state: float = 0.4
    """A row or a partial that a worker on a stream writes to its state."""
    job: float = 220_000
    """A query over bounded input, whatever its plan: Spark plans it and starts its first tasks."""
    stage: float = 20_000
    """A stage of tasks: it is scheduled, and its Python workers are set to work."""
    task: float = 42_000
    """A task of a stage."""
    batch: float = 260_000
    """A stateful stage in one micro-batch."""


ON_SPARK = Constants()
"""What steps cost on Spark, as it ships."""
IN_PROCESS = Constants(
    hand_over=0.0,
    read=0.025,
    exchange=0.012,
    keep=0.1,
    reduce=0.006,
    piece=0.06,
    window=0.04,
    job=0.0,
    stage=0.0,
    task=0.0,
)
"""What steps cost where workers share the rows of one process, as ``calibrate`` measures it."""
