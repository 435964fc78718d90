"""Runs notebooks, and keeps of them what is the same on every machine."""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

_SECONDS = 300
"""How long a cell may take."""


def executed(path: Path, folder: Path) -> NotebookNode:
    """The notebook with the outputs of a run in the folder; a cell that fails raises."""
    notebook: NotebookNode = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(
        notebook, timeout=_SECONDS, record_timing=False, resources=resources, kernel_name="python3"
    ).execute()
    notebook.metadata = {"kernelspec": notebook.metadata["kernelspec"]}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = _merged(cell.outputs)
    return notebook


def _merged(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """The outputs, with what was printed in one piece: it comes in pieces of any length."""
    merged: list[NotebookNode] = []
    for output in outputs:
        last = merged[-1] if merged else {}
        if output.output_type == "stream" and last.get("name") == output.name:
            merged[-1].text += output.text
        else:
            merged.append(output)
    return merged
