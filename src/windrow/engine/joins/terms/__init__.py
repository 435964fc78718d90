"""The terms of a join's predicate; a new term is one file."""
