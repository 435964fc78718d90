"""A decision: what was chosen for a query, on what grounds, and what else could have run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from windrow.core.statistics import UNKNOWN, Statistics
from windrow.engine.stages.nodes import Stages
from windrow.engine.window_query import WindowQuery
from windrow.planner.alternatives import as_text, rate_of, rejection
from windrow.planner.choice import Choice, by_rules, can_predict, weigh
from windrow.planner.explain import explain, function_of
from windrow.planner.plans import Resources
from windrow.planner.predict import Prediction

SCALES = (4, 64, 1024)
"""Numbers of cores for which it is said what would be chosen."""
VERSION = 1
"""The version of the decision as data. It counts up if a field changes its meaning or goes."""


@dataclass(frozen=True)
class Decision:
    """What will run and why."""

    query: WindowQuery
    choice: Choice
    stages: Stages
    resources: Resources
    runs: str
    """What runs where, in words."""
    reads: str | None = None
    """Who reads the rows, in words."""
    sampled: Statistics = UNKNOWN
    """What a sample of the input has told."""

    runs_here: bool = False
    """Whether it runs in this process, where there is one core."""

    @property
    def statistics(self) -> Statistics:
        return self.query.hints.or_else(self.sampled)

    def predictions(self) -> list[Prediction]:
        """What was chosen, then the others, the fastest first."""
        return weigh(self.query, self.resources, self.sampled, self.choice.plan)

    def scaling(self) -> dict[int, Prediction]:
        """What would be chosen on other numbers of cores.

        For a stream that is always the same, apart from workers without state.
        """
        found = {}
        for cores in SCALES:
            resources, given = replace(self.resources, cores=cores), None
            if not can_predict(self.statistics):
                given = by_rules(self.query, resources).plan
            found[cores] = weigh(self.query, resources, self.sampled, given)[0]
        return found

    def explain(self) -> str:
        """The window, the computation, the pattern and its stages."""
        choice = self.choice
        pattern = choice.pattern if choice.native is None else None
        return explain(self.query, pattern, choice.why, self.stages, self.runs, self.reads)

    def explain_cost(self) -> str:
        """The choice as a tree: the plan that was chosen, and those that were rejected."""
        predictions = self.predictions()
        scaling = {} if self.runs_here else self.scaling()
        lines = [
            f"{'chosen':<9}{predictions[0].plan.describe()}: {self.choice.why}",
            f"{'known':<9}{self._known()}",
            f"{'on':<9}{self._on()}",
            "plans",
            *as_text(predictions, self.choice.why),
            *(["on other numbers of cores"] if scaling else []),
            *(f"  {cores:>4} {rate_of(p)} as {p.plan.describe()}" for cores, p in scaling.items()),
        ]
        return "\n".join(lines)

    def as_data(self) -> dict[str, object]:
        """The decision as JSON data."""
        query, predictions = self.query, self.predictions()
        return {
            "version": VERSION,
            "window": repr(query.model),
            "keys": list(query.keys),
            "compute": function_of(query),
            "pattern": repr(self.choice.pattern),
            "native": self.choice.native,
            "why": self.choice.why,
            "reads": self.reads,
            "runs": self.runs,
            "stages": [line for line in self.stages.describe().split("\n") if line],
            "cores": self.resources.cores,
            "is_stream": self.resources.is_stream,
            "statistics": self.statistics.known,
            "hot_keys": {repr(key): share for key, share in self._hot_keys()},
            "scaling": {
                str(cores): {"pattern": repr(p.plan.pattern), "rows_per_second": p.rows_per_second}
                for cores, p in ({} if self.runs_here else self.scaling()).items()
            },
            "plans": [
                {
                    "pattern": repr(p.plan.pattern),
                    "native": p.plan.native,
                    "is_chosen": number == 0,
                    "seconds": p.seconds,
                    "rows_per_second": p.rows_per_second,
                    "latency": p.latency,
                    "held": p.held,
                    "bytes": p.bytes,
                    "limit": p.limit,
                    "sentence": rejection(p, predictions[0]) if number else self.choice.why,
                }
                for number, p in enumerate(predictions)
            ],
        }

    def _known(self) -> str:
        known = [f"{name} {value:g}" for name, value in self.statistics.known.items()]
        known += [f"{key!r} {share:.0%} of the rows" for key, share in self._hot_keys()]
        if not can_predict(self.statistics):
            known.append("rules choose, and predictions assume ordinary rows; see hint()")
        return ", ".join(known)

    def _hot_keys(self) -> tuple[tuple[Any, float], ...]:
        return self.statistics.hot_keys or ()

    def _on(self) -> str:
        cores = self.resources.cores
        what = "a stream" if self.resources.is_stream else "bounded input"
        return f"{cores} core{'s' * (cores != 1)}, {what}"
