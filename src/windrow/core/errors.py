"""The only error type a user sees (rule, received value, hint), and the only warning type."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping
from difflib import get_close_matches


class WindrowError(ValueError):
    """A query, a window or a row that breaks a rule.

    >>> str(WindrowError("slide must be positive", "slide=0", "leave slide out."))
    'slide must be positive; got slide=0.\\nHint: leave slide out.'
    """

    def __init__(self, rule: str, got: str | None = None, hint: str | None = None) -> None:
        self.rule, self.got, self.hint = rule, got, hint
        message = rule if got is None else f"{rule}; got {got}"
        super().__init__(f"{message}." + (f"\nHint: {hint}" if hint else ""))

    def __reduce__(self) -> tuple[type[WindrowError], tuple[str, str | None, str | None]]:
        return type(self), (self.rule, self.got, self.hint)


class UnknownName(WindrowError, AttributeError):
    """A name that a module or an object of Windrow does not have."""


class WindrowWarning(UserWarning):
    """A query that runs, but not as well as it could, or a setting that has no effect."""


def warn(message: str) -> None:
    """Warn, pointing at the line of the user's program that called into Windrow."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").split(".")[0] == "windrow":
        frame, level = frame.f_back, level + 1
    warnings.warn(message, WindrowWarning, stacklevel=level)


def received(what: str, value: object) -> str:
    """The received value with the name of its field, the last word of ``what``.

    >>> received("CountWindow slide", 0)
    'slide=0'
    """
    return f"{what.rsplit(maxsplit=1)[-1]}={value!r}"


def near_names(name: str, known: Iterable[str], what: str = "columns") -> str:
    """The hint for an unknown name: the names most like it, or else all names.

    >>> near_names("pirce", ["symbol", "price"])
    "did you mean one of these columns: ['price']?"
    """
    known = list(known)
    folded = {k.casefold(): k for k in known}
    close = [folded[m] for m in get_close_matches(name.casefold(), folded, n=3)]
    if close:
        return f"did you mean one of these {what}: {close}?"
    return f"the {what} are {known}."


def nearest(name: str, known: Iterable[str], names_of_others: Mapping[str, str]) -> str | None:
    """What a name stands for elsewhere, or else the known name most like it, whatever its case.

    >>> nearest("size", ["length", "slide"], {"size": "length"})
    'length'
    """
    folded = {k.casefold(): k for k in known}
    if (meant := names_of_others.get(name)) is not None:
        return meant
    close = get_close_matches(name.casefold(), folded, n=1, cutoff=0.75)
    return folded[close[0]] if close else None


def unsampled(got: str) -> WindrowError:
    """A stream was to be run to its end."""
    hint = "pass bounded rows with the same columns as sample=."
    return WindrowError("tune runs a query over a stream on a sample only", got, hint)
