"""Names of columns: which of them are the same, and which are Windrow's own."""

from __future__ import annotations

from collections.abc import Iterable

from windrow.core.errors import WindrowError

RESERVED = "windrow."
"""What the names of Windrow's own columns begin with."""


def same_name(name: str, known: Iterable[str], *, is_case_sensitive: bool) -> str | None:
    """The known name that a name stands for: itself or, if case does not matter, another case.

    >>> same_name("Price", ["price"], is_case_sensitive=False)
    'price'
    """
    known = list(known)
    if name in known or is_case_sensitive:
        return name if name in known else None
    return next((k for k in known if k.lower() == name.lower()), None)


def check_names(names: Iterable[str], *, is_case_sensitive: bool) -> None:
    """Raise if two columns of a stream have the same name, or one has a name of Windrow's own."""
    taken: dict[str, str] = {}
    for name in names:
        check_reserved("column", name)
        folded = name if is_case_sensitive else name.lower()
        if folded in taken:
            got = (
                f"{[taken[folded]]} twice" if taken[folded] == name else f"{[taken[folded], name]}"
            )
            rule = "the columns of a stream must have distinct names"
            hint = "rename one of them."
            if taken[folded] != name:
                hint = "rename one of them, or set spark.sql.caseSensitive to true."
            raise WindrowError(rule, got, hint)
        taken[folded] = name


def check_reserved(what: str, name: str) -> None:
    """Raise if a name is one that Windrow may give to a column of its own."""
    if name.lower().startswith(RESERVED):
        rule = f"the name of a {what} must not begin with {RESERVED!r}"
        raise WindrowError(rule, repr(name), "choose another name.")
