"""A join's predicate: a list of terms that must all hold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeGuard

import pyarrow as pa

from windrow.core.errors import WindrowError
from windrow.engine.joins.terms.term import Term


@dataclass(frozen=True)
class Predicate:
    """A conjunction of terms; ``&`` adds to it."""

    terms: tuple[Term, ...]

    def __and__(self, other: Predicate | Term) -> Predicate:
        if not isinstance(other, Predicate | Term):
            hint = 'for example wr.equi("symbol") & wr.band(price=0.01).'
            raise WindrowError("& combines two predicates", repr(other), hint)
        return Predicate(self.terms + (other.terms if isinstance(other, Predicate) else (other,)))

    def __bool__(self) -> bool:
        raise WindrowError("predicates are combined with &", "and, or or not")

    def describe(self) -> str:
        """In words, for ``explain``."""
        return " and ".join(term.describe() for term in self.terms)

    def identity(self) -> list[dict[str, Any]]:
        """The terms as JSON-able data."""
        return [{"term": type(term).__name__, **term.identity()} for term in self.terms]

    def bind(self, left: pa.Schema, right: pa.Schema) -> Predicate:
        """Check all terms against both schemas and return the predicate for their types."""
        return Predicate(tuple(term.bind(left, right) for term in self.terms))

    def columns(self, side: int) -> set[str] | None:
        """The columns of a side that the terms use; None for all."""
        named = [term.columns(side) for term in self.terms]
        if any(names is None for names in named):
            return None
        return {name for names in named for name in names or ()}

    @cached_property
    def coded(self) -> tuple[Term, ...]:
        """The terms that narrow by code."""
        return tuple(term for term in self.terms if term.narrows == "code")

    @cached_property
    def ranged(self) -> tuple[Term, ...]:
        """The terms that narrow by range: the first is searched, the second filters."""
        return tuple(term for term in self.terms if term.narrows == "range")

    @cached_property
    def verified(self) -> tuple[Term, ...]:
        """The terms that candidates must still be checked for; terms that narrow come first.

        An exact term by which the candidates were found needs no check. Several codes are hashed
        into one, so none of them is exact.
        """
        found_by = (*(self.coded if len(self.coded) == 1 else ()), *self.ranged[:2])
        settled = [term for term in found_by if term.is_exact]
        rest = [term for term in self.terms if not any(term is known for known in settled)]
        return tuple(sorted(rest, key=lambda term: term.narrows is None))


def is_pair_of_names(pair: object) -> TypeGuard[tuple[str, str]]:
    """Whether it is a pair of a left and a right column's name."""
    return isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(n, str) for n in pair)
