"""Small figures as inline SVG: lines with a legend, drawn by hand so that a report is one file without scripts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

COLOURS = ("#0b5fa5", "#c4431a", "#2e7d4f", "#7b4fa3", "#8a6d00", "#00838f", "#ad1457", "#455a64")
"""Dark enough on white for small print (contrast above 4.5), and distinguishable to most eyes; dashes help the rest."""
DASHES = ("", "6 3", "2 3", "8 3 2 3", "12 3", "4 2 1 2", "1 2", "10 4")
WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 16, 52


@dataclass(frozen=True, slots=True)
class Line:
    """A named curve."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


@dataclass(frozen=True, slots=True)
class Axis:
    """A title, both ends, and ticks with their labels."""

    title: str
    low: float
    high: float
    ticks: Sequence[tuple[float, str]]


def line_figure(lines: Sequence[Line], x: Axis, y: Axis, about: str, marker: tuple[float, str] | None = None) -> str:
    """An SVG of the lines; `about` describes it for screen readers; `marker` is a horizontal line with a name.

    Examples
    --------
    >>> axis = Axis("x", 0.0, 1.0, [(0.0, "0"), (1.0, "1")])
    >>> line_figure([Line("<b>", [0, 1], [0, 1])], axis, axis, "a line").count("&lt;b&gt;")
    1
    """
    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT + 22 * ((len(lines) + 1) // 2)}" role="img" aria-label="{escape(about)}">',
        f'<rect class="plot" x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{HEIGHT - TOP - BOTTOM}"/>',
    ]
    for value, text in x.ticks:
        at = _across(value, x)
        parts.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        side = " end" if at > WIDTH - RIGHT - 20 else ""
        parts.append(f'<text class="tick{side}" x="{at:.1f}" y="{HEIGHT - BOTTOM + 18}">{escape(text)}</text>')
    for value, text in y.ticks:
        at = _up(value, y)
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text class="tick end" x="{LEFT - 8}" y="{at + 4:.1f}">{escape(text)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text class="axis" x="{middle:.0f}" y="{HEIGHT - 10}">{escape(x.title)}</text>')
    centre = (TOP + HEIGHT - BOTTOM) / 2
    turned = f'transform="rotate(-90 16 {centre:.0f})"'
    parts.append(f'<text class="axis" x="16" y="{centre:.0f}" {turned}>{escape(y.title)}</text>')
    if marker is not None:
        at = _up(marker[0], y)
        parts.append(f'<line class="marker" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>')
    for number, line in enumerate(lines):
        parts.extend(_curve(number, line, x, y))
    if marker is not None:
        parts.append(f'<text class="note" x="{LEFT + 8}" y="{_up(marker[0], y) - 6:.1f}">{escape(marker[1])}</text>')
    return "\n".join([*parts, "</svg>"])


def _curve(number: int, line: Line, x: Axis, y: Axis) -> list[str]:
    colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
    points = " ".join(f"{_across(a, x):.1f},{_up(b, y):.1f}" for a, b in zip(line.x, line.y, strict=True))
    look = f'stroke="{colour}" stroke-dasharray="{dash}"'
    column, row = number % 2, number // 2
    at, height = LEFT + column * 290, HEIGHT + 12 + 22 * row
    return [
        f'<polyline fill="none" stroke-width="2.2" {look} points="{points}"/>',
        f'<line x1="{at}" x2="{at + 34}" y1="{height - 4}" y2="{height - 4}" stroke-width="2.6" {look}/>',
        f'<text class="legend" x="{at + 42}" y="{height}">{escape(line.name[:40])}</text>',
    ]


def _across(value: float, axis: Axis) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * _part(value, axis)


def _up(value: float, axis: Axis) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * _part(value, axis)


def _part(value: float, axis: Axis) -> float:
    width = axis.high - axis.low
    return float(np.clip((value - axis.low) / width, 0.0, 1.0)) if width > 0 and np.isfinite(value) else 0.0


def round_ticks(high: float, n: int = 5) -> list[tuple[float, str]]:
    """About n round numbers from zero to `high`."""
    if not np.isfinite(high) or high <= 0:
        return [(0.0, "0")]
    raw = high / n
    scale = 10.0 ** np.floor(np.log10(raw))
    step = next(s * scale for s in (1, 2, 5, 10) if s * scale >= raw)
    return [(float(v), f"{v:g}") for v in np.arange(0.0, high + 0.5 * step, step) if v <= high * 1.0001]
