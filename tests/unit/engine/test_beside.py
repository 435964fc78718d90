"""Hot keys go their own way, beside all other keys, whose results pass by what follows."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import windrow as wr
from tests.unit.engine.test_routes import is_partition, keys, rows, sent
from windrow import functions as wf
from windrow.engine.columns.control import PIECE, RANK
from windrow.engine.columns.hot_keys import HotKeys
from windrow.engine.stages.beside import Beside, PastResults, is_result
from windrow.engine.stages.nodes import Collector
from windrow.engine.stages.routes import ByKey, ByPiece, Dealt
from windrow.engine.stages.traffic import collect_traffic
from windrow.engine.workers.past_results import FirstThenOthers, LettingResultsPass
from windrow.engine.workers.reducer import Reducer

QUERY = wr.stream({"k": ["p"], "t": [1]}).key_by("k").window(wr.CountWindow(2)).agg(n=wf.count())
RESULT = pa.table({"k": ["q"], "window_id": [0], "window_start": [0], "window_end": [2], "n": [2]})


@given(keys, st.integers(1, 3), st.integers(1, 4))
def test_hot_keys_are_dealt_and_every_other_key_goes_to_one_worker(
    names: list[str | None], n_hot: int, n: int
) -> None:
    hot = HotKeys.of([("p",), (None,)], {"k": pa.string()})
    route = Beside(hot, Dealt(n_hot), ByKey(("k",), n))
    parts = sent(route, rows(names, [0] * len(names)))
    assert is_partition(parts, len(names))
    split, others = parts[:n_hot], parts[n_hot:]
    assert {names[i] for part in split for i in part} <= {"p", None}
    assert max(map(len, split)) - min(map(len, split)) <= 1
    for name in set(names) - {"p", None}:
        assert sum(any(names[i] == name for i in part) for part in others) == 1


def test_rows_at_regular_distances_are_dealt_evenly() -> None:
    every_fourth = rows(["p"] * 40, [0] * 40).take(list(range(0, 40, 4)))
    assert [len(part) for part in sent(Dealt(2), every_fourth)] == [5, 5]


def test_results_are_told_by_having_no_control_column() -> None:
    assert is_result(RESULT)
    for column in (PIECE, RANK):
        assert not is_result(RESULT.append_column(column, pa.array([0])))
    assert not is_result(None)


def test_results_go_to_any_one_worker_and_pieces_to_theirs() -> None:
    route = PastResults(ByPiece(("k",), 3))
    assert route.describe() == ByPiece(("k",), 3).describe()
    found = route.targets(RESULT, 0)
    assert [part for part in found if part is not None] == [RESULT]
    pieces = pa.table({"k": ["p"] * 6, PIECE: range(6)})
    assert [len(part) for part in route.targets(pieces, 0)] == [2, 2, 2]


def test_workers_let_results_pass() -> None:
    query = QUERY.window_query()
    worker = LettingResultsPass(lambda index: Reducer(query))(0)
    worker.push(RESULT)
    assert worker.advance(0) == [RESULT]
    assert worker.advance(0) == []


def test_workers_of_two_kinds_are_numbered_one_after_the_other() -> None:
    query = QUERY.window_query()
    made: list[tuple[str, int]] = []

    def kind(name: str) -> object:
        def make(index: int) -> Reducer:
            made.append((name, index))
            return Reducer(query)

        return make

    make = FirstThenOthers(2, kind("hot"), kind("other"))  # type: ignore[arg-type]
    for index in range(4):
        make(index)
    assert made == [("hot", 0), ("hot", 1), ("other", 0), ("other", 1)]


def test_a_collector_puts_results_and_pieces_in_order_apart() -> None:
    pieces = pa.table({"k": ["p", "p"], PIECE: [1, 0]})
    given = {0: [pieces, RESULT], 1: [RESULT]}
    (ordered, results) = collect_traffic(QUERY.window_query(), Collector(2), given)[0]
    assert ordered[PIECE].to_pylist() == [0, 1]
    assert len(results) == 2
