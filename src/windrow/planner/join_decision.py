"""The decision of a join: its layout, on what grounds, and what else could have run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from windrow.engine.joins.join_query import JoinQuery
from windrow.engine.stages.nodes import Stages
from windrow.patterns.joins import Strategy
from windrow.planner.alternatives import bytes_of, seconds_of
from windrow.planner.choice import ABOUT_EQUAL
from windrow.planner.decision import VERSION
from windrow.planner.explain_join import explain_join
from windrow.planner.join_cost import (
    ASSUMED_RATE,
    JoinLoad,
    JoinPrediction,
    Rates,
    weigh_grids,
)
from windrow.planner.join_layout import GridChoice, partitioning


@dataclass(frozen=True)
class JoinDecision:
    """What will run and why."""

    query: JoinQuery
    choice: GridChoice
    strategy: Strategy
    stages: Stages
    runs: str
    reads: tuple[str, ...]
    cores: int
    rates: Rates | None
    is_stream: bool

    @property
    def load(self) -> JoinLoad:
        """What both streams bring; where nothing is known, it is assumed."""
        rates = self.rates or (ASSUMED_RATE, ASSUMED_RATE)
        return JoinLoad.of(self.query, rates, is_stream=self.is_stream)

    def predictions(self) -> list[JoinPrediction]:
        """The chosen layout, then others, the fastest first."""
        by = partitioning(self.query.on)
        has_copies = any(self.query.on.terms[i].has_copies for i in by)
        return weigh_grids(self.choice.grid, self.load, self.cores, by, has_copies=has_copies)

    def explain(self) -> str:
        """The predicate, the windows, the layout and its stages."""
        return explain_join(
            self.query, self.choice, self.strategy, self.stages, self.runs, self.reads
        )

    def explain_cost(self) -> str:
        """The layouts that were weighed, as a tree with a sentence each."""
        load = self.load
        left, right = load.rates
        assumed = "" if self.rates else ", which is assumed; see rates="
        kind = "streams" if self.is_stream else "bounded input"
        lines = [
            f"{'chosen':<9}{self.choice.grid.describe(self.query)}: {self.choice.why}",
            f"{'known':<9}{left:g} and {right:g} rows per second{assumed}",
            f"{'on':<9}{self.cores} core{'s' * (self.cores != 1)}, {kind}",
            f"{'N_opt':<9}{load.optimal_degree}: the fewest workers that keep up with all pairs",
            "layouts",
            *self._tree(),
        ]
        return "\n".join(lines)

    def _tree(self) -> Iterator[str]:
        predictions = self.predictions()
        for number, p in enumerate(predictions):
            is_last = number == len(predictions) - 1
            yield f"{'└' if is_last else '├'}─ {'* ' * (not number)}{self._name(p)}"
            stem = "   " if is_last else "│  "
            yield f"{stem}{self._predicted(p)}"
            yield f"{stem}{self._sentence(p, predictions[0])}"

    def _name(self, p: JoinPrediction) -> str:
        return p.grid.describe(self.query)

    def _predicted(self, p: JoinPrediction) -> str:
        pairs = f"{p.pairs_per_second / 1e6:.3g} M pairs/s"
        latency = f"{seconds_of(p.latency)} latency"
        return f"{pairs}, {latency}, {bytes_of(p.bytes)} held, {p.copies:.2g} copies of a row"

    def _sentence(self, p: JoinPrediction, chosen: JoinPrediction) -> str:
        if p is chosen:
            return f"{self.choice.why[:1].upper()}{self.choice.why[1:]}."
        times = p.seconds / chosen.seconds
        if times < 1:
            keeps_up = self.is_stream and chosen.seconds <= 1
            why = (
                "the chosen one keeps up"
                if keeps_up
                else "another one was given, or its windows are not known"
            )
            return f"It would take {times:.2f} times as long, but {why}."
        if times < ABOUT_EQUAL:
            return "It would take as long."
        if p.grid.n < min(chosen.grid.n, self.cores):
            return f"It would take {times:.2f} times as long: cores would have nothing to do."
        if p.grid.partitions < chosen.grid.partitions:
            return f"It would take {times:.2f} times as long: more pairs would be looked at."
        return f"It would take {times:.2f} times as long: a row would be sent {p.copies:.2g} times."

    def as_data(self) -> dict[str, object]:
        """The decision as JSON data."""
        predictions = self.predictions()
        return {
            "version": VERSION,
            "join": f"{self.query.how} on {self.query.on.describe()}",
            "layout": self._name(predictions[0]),
            "strategy": self.strategy,
            "why": self.choice.why,
            "reads": list(self.reads),
            "runs": self.runs,
            "stages": [line for line in self.stages.describe().split("\n") if line],
            "cores": self.cores,
            "is_stream": self.is_stream,
            "rates": None if self.rates is None else list(self.rates),
            "n_opt": self.load.optimal_degree,
            "layouts": [
                {
                    "layout": self._name(p),
                    "is_chosen": number == 0,
                    "seconds": p.seconds,
                    "latency": p.latency,
                    "bytes": p.bytes,
                    "copies": p.copies,
                    "pairs_per_second": p.pairs_per_second,
                    "sentence": self._sentence(p, predictions[0]),
                }
                for number, p in enumerate(predictions)
            ],
        }

    def as_html(self) -> str:
        """What notebooks show: what runs, and the layouts that were weighed."""
        tree = "\n".join(self._tree())
        return f"<pre>{escape(self.explain())}\n\n{escape(tree)}</pre>"
