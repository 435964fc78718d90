"""The demo streams, checks what came out, and draws it."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from windrow.cli.__main__ import main
from windrow.core import packages
from windrow.spark.quiet_start import _OF_EVERY_START


@pytest.mark.spark
def test_demo_streams_checks_and_draws(tmp_path: Path) -> None:
    png = tmp_path / "plots" / "demo.png"
    options = ["--seconds", "2", "--rows-per-second", "5000", "--png", str(png)]
    command = [sys.executable, "-m", "windrow.cli", "demo", *options]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    # Plain text where there is no terminal, and nothing of what Spark says when it starts.
    assert "\x1b" not in ran.stdout
    assert ran.stderr == ""

    # Errors that Spark logs are in a file beside the plot; what every start says is nowhere.
    log = png.with_suffix(".log").read_bytes().splitlines()
    assert [line for line in log if _OF_EVERY_START.match(line)] == []

    assert "CountWindow(1000, slide=100)" in ran.stdout
    (head,) = (line for line in ran.stdout.splitlines() if "rows/s in" in line)
    for name in ("done/s", "latency", "watermark", "state", "dropped"):
        assert name in head
    checked = re.search(r"Checked all ([\d,]+) windows of ([\d,]+) quotes .*: equal", ran.stdout)
    assert checked is not None
    found, rows = (int(number.replace(",", "")) for number in checked.groups())
    assert 0 < found < rows // 100
    for symbol in ("ACME", "CAME", "EMCA", "MACE"):
        assert symbol in ran.stdout.split("Checked all")[1]

    assert str(png) in ran.stdout
    signature, width, height = struct.unpack(">8s8x2L", png.read_bytes()[:24])
    assert signature == b"\x89PNG\r\n\x1a\n"
    assert width >= 1000
    assert height >= 600


def test_a_missing_package_is_named_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(packages, "find_spec", lambda n: None if n == "plotext" else find_spec(n))
    with pytest.raises(SystemExit, match="2"):
        main(["demo"])
    printed = capsys.readouterr().err
    assert printed == 'Error: the demo needs plotext. Hint: pip install "windrow[demo]".\n'


@pytest.mark.parametrize("option", ["--seconds", "--rows-per-second"])
@pytest.mark.parametrize("value", ["0", "-1", "1.5", "many"])
def test_options_are_positive_whole_numbers(
    option: str, value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["demo", f"{option}={value}"])
    assert f"Invalid value for '{option}'" in capsys.readouterr().err
