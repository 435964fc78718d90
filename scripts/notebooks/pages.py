"""Shows the notebooks as pages of the site, as they were executed: a hook of MkDocs."""

from __future__ import annotations

from base64 import b64decode
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

FOLDER = Path(__file__).parents[2] / "notebooks"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add a page for each notebook, and its pictures beside it."""
    for path in sorted(FOLDER.glob("*.ipynb")):
        text, pictures = page_of(path)
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
        for name, picture in pictures.items():
            files.append(File.generated(config, f"notebooks/{name}", content=picture))
    return files


def page_of(path: Path) -> tuple[str, dict[str, bytes]]:
    """A notebook in Markdown, and its pictures by file name."""
    blocks: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            blocks.append(cell.source.replace("](../docs/", "](../"))
            continue
        blocks.append(_fenced("python", cell.source))
        for output in cell.outputs:
            data = output.get("data", {})
            if "image/png" in data:
                name = f"{path.stem}_{len(pictures)}.png"
                pictures[name] = b64decode(data["image/png"])
                blocks.append(f"![]({name})")
            elif "text/html" in data:
                blocks.append(f'<div class="output">\n{_unbroken(data["text/html"])}\n</div>')
            else:
                blocks.append(_fenced("text", output.get("text") or data["text/plain"]))
    note = f"*This page is the notebook `notebooks/{path.name}` of the repository, as it ran.*"
    title, _, rest = "\n\n".join(blocks).partition("\n")
    return f"{title}\n\n{note}\n{rest}", pictures


def _fenced(language: str, text: Any) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def _unbroken(html: str) -> str:
    """HTML without empty lines, at which Markdown would go on."""
    return "\n".join(line for line in html.splitlines() if line.strip())
