"""What a join demands of its columns, checked when it is built."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

from windrow.core.errors import WindrowError, near_names
from windrow.core.predicates import Band
from windrow.engine.columns.ddl import type_name
from windrow.engine.columns.storage import ColumnStorage
from windrow.engine.joins.attributes import band_kind, equi_kind, is_temporal
from windrow.engine.joins.candidates import Candidates, try_theta
from windrow.engine.joins.join_query import JoinQuery

_TIMES = ("timestamp", "timestamp_ntz", "date", "bigint", "int")
_SIDES = ("left", "right")


def check(query: JoinQuery) -> None:
    """Raise if the join names columns that are not there, or that it cannot compare."""
    for side, time in enumerate(query.time or ()):
        kind = _type(query, side, time, "time")
        if kind not in _TIMES:
            raise WindrowError(
                "join time takes columns of timestamps, dates or integer microseconds",
                f"{time!r} of {kind} on the {_SIDES[side]}",
                "convert it first, for example with to_timestamp().",
            )
    for equi in query.on.equis:
        _check_kinds(query, (equi.left, equi.right), "equi")
    for band in query.on.bands:
        _check_kinds(query, (band.left, band.right), "band")
        _check_extent(query, band)
    _check_names(query)
    _try_thetas(query)


def _type(query: JoinQuery, side: int, column: str, what: str) -> str:
    schema = query.schemas[side]
    if column not in schema.names:
        rule = f"{what}: column not found on the {_SIDES[side]}: {column!r}"
        raise WindrowError(rule, hint=near_names(column, schema.names))
    return type_name(schema.field(column).type)


def _check_kinds(query: JoinQuery, names: tuple[str, str], what: str) -> None:
    kinds = [_type(query, side, name, what) for side, name in enumerate(names)]
    types = [query.schemas[side].field(name).type for side, name in enumerate(names)]
    if (equi_kind if what == "equi" else band_kind)(*types) is None:
        takes = "plain values of one kind" if what == "equi" else "numbers, timestamps or dates"
        raise WindrowError(
            f"{what} compares {takes}",
            f"{names[0]!r} of {kinds[0]} with {names[1]!r} of {kinds[1]}",
            "cast one of them first.",
        )


def _check_extent(query: JoinQuery, band: Band) -> None:
    kind = query.schemas[0].field(band.left).type
    is_float = band_kind(kind, query.schemas[1].field(band.right).type) == pa.float64()
    if band.is_duration and is_float:
        rule = "a duration is a band of timestamps, dates or integer microseconds"
        raise WindrowError(rule, f"{band.left!r} of {type_name(kind)}", "write a number.")
    if is_temporal(kind) and any(isinstance(e, float) for e in (band.below, band.above)):
        rule = "a band of timestamps or dates is a duration"
        raise WindrowError(rule, f"{band.left}={band.above!r}", 'for example "1 s".')


def _check_names(query: JoinQuery) -> None:
    taken: dict[str, str] = {}
    for name in query.output_schema().names:
        if name.casefold() in taken:
            raise WindrowError(
                "the columns of both sides must have different names in the result",
                f"{name!r} twice with prefixes={query.prefixes}",
                'choose other prefixes, for example ("left_", "right_").',
            )
        taken[name.casefold()] = name


def _try_thetas(query: JoinQuery) -> None:
    """Call the functions on no candidates: what they misname is found before anything runs."""
    blocks = [_nothing(side, schema) for side, schema in enumerate(query.schemas)]
    for theta in query.on.thetas:
        try_theta(theta, blocks[0], blocks[1])


def _nothing(side: int, schema: pa.Schema) -> Candidates:
    table = schema.empty_table()

    def show(column: str) -> NDArray[Any]:
        storage = ColumnStorage(schema.field(column).type)
        return storage.show(storage.store(table[column]))

    return Candidates(side, schema.names, show)
