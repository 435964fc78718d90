"""The notebooks run, and what they show is what the present code gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from scripts.notebooks import FOLDER
from scripts.notebooks.execution import executed
from scripts.notebooks.pages import page_of

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
MEASURED = "measured"
"""The tag of cells whose outputs depend on how fast the machine is."""

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def shown(cell: Any) -> list[Any]:
    """What a cell shows, but for the pixels of pictures, which depend on the fonts."""
    found: list[Any] = []
    for output in cell.outputs:
        data = dict(output.get("data", {}))
        if "text/html" in data:
            del data["text/plain"]  # which may have addresses in memory
        if "image/png" in data:
            data = dict.fromkeys(data, "a picture")
        found.append((output.output_type, output.get("name"), output.get("text"), data))
    if MEASURED in cell.metadata.get("tags", []):
        return [(kind, name, sorted(data)) for kind, name, _, data in found]
    return found


def test_there_are_three() -> None:
    names = [path.stem for path in NOTEBOOKS]
    assert names == ["a_live_stream", "choosing_a_pattern", "first_windows"]


@pytest.mark.spark
@each_notebook
def test_a_run_shows_what_the_notebook_shows(path: Path, tmp_path: Path) -> None:
    kept = [c for c in nbformat.read(path, as_version=4).cells if c.cell_type == "code"]
    anew = [c for c in executed(path, tmp_path).cells if c.cell_type == "code"]
    for place, (old, new) in enumerate(zip(kept, anew, strict=True), start=1):
        assert old.execution_count == place
        assert shown(old) == shown(new), f"cell {place}: make notebooks"


@each_notebook
def test_it_has_pictures_is_small_and_nothing_went_wrong(path: Path) -> None:
    assert path.stat().st_size < 300_000
    cells = nbformat.read(path, as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    assert {output.output_type for output in outputs} <= {
        "stream",
        "display_data",
        "execute_result",
    }
    assert all(output.name == "stdout" for output in outputs if output.output_type == "stream")
    assert any("image/png" in output.get("data", {}) for output in outputs)


@each_notebook
def test_its_page_shows_all_cells_and_pictures(path: Path) -> None:
    text, pictures = page_of(path)
    cells = nbformat.read(path, as_version=4).cells
    assert text.count("```python") == sum(cell.cell_type == "code" for cell in cells)
    for name, picture in pictures.items():
        assert f"![]({name})" in text
        assert picture.startswith(b"\x89PNG")


@each_notebook
def test_its_links_lead_somewhere(path: Path) -> None:
    root = FOLDER.parent
    text, _ = page_of(path)
    links = [part.split(")")[0] for part in text.split("](../")[1:]]
    assert links
    for link in links:
        assert (root / "docs" / link).exists(), link
