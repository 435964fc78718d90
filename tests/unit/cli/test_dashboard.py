"""What `windrow dashboard` takes."""

from __future__ import annotations

import pytest

from windrow.cli.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give a program to run, or --demo"),
        (["--demo", "program.py"], "give a program to run, or --demo"),
        (["there-is-none.py"], "dashboard runs a Python program; got no file at there-is-none.py"),
    ],
)
def test_a_mistake_is_told(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["dashboard", "--port", "0", *arguments])
    assert said in " ".join(capsys.readouterr().err.split())
