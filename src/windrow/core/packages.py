"""Packages that only some parts of Windrow need."""

from __future__ import annotations

from importlib.util import find_spec

from windrow.core.errors import WindrowError


def require(what: str, extra: str, *packages: str) -> None:
    """Raise unless the packages are installed; the hint names the extra that installs them."""
    if missing := [name for name in packages if find_spec(name) is None]:
        hint = f'pip install "windrow[{extra}]".'
        raise WindrowError(f"{what} needs {' and '.join(missing)}", hint=hint)
