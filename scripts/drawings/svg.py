"""Pictures as SVG text that is readable on light and dark pages."""

from __future__ import annotations

from html import escape

GREY, BLUE, PALE, ORANGE, GREEN = "#7a8794", "#2a7de1", "#9cc3f2", "#e07b39", "#4c9f70"


def svg(width: int, height: int, parts: list[str], title: str) -> str:
    """A picture of these parts; it has no background of its own."""
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-family="sans-serif" font-size="13" role="img">\n'
        f"<title>{escape(title)}</title>\n{body}\n</svg>\n"
    )


def text(x: float, y: float, words: str, *, anchor: str = "middle", fill: str = GREY) -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{fill}">{escape(words)}</text>'


def line(
    x1: float, y1: float, x2: float, y2: float, *, stroke: str = GREY, width: float = 1
) -> str:
    return (
        f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{stroke}" '
        f'stroke-width="{width:g}"/>'
    )


def box(x: float, y: float, width: float, height: float, *, fill: str, stroke: str = "none") -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4" fill="{fill}" '
        f'fill-opacity="0.35" stroke="{stroke}"/>'
    )


def dot(x: float, y: float, *, fill: str = BLUE, radius: float = 5) -> str:
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{fill}"/>'
