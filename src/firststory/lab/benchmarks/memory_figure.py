"""What a document costs, and what the process holds, as the window grows: two panels over one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from firststory.plot.figure import new_figure

LINES = (("o", -13), ("s", 6))
"""Marker of each line, and how far above it its values stand: those of the lower line below."""
PANELS = (("microseconds", "CPU time of a document, µs"), ("resident", "resident memory, MB"))


def draw(growing: Mapping[str, Sequence[Mapping[str, float]]], windows: Sequence[int], path: Path) -> None:
    """One line a stream in each panel, every point with its value; `growing` has one mapping for each window."""
    figure = new_figure(figsize=(8.6, 3.8), layout="constrained")
    for ax, (what, label) in zip(figure.subplots(1, 2), PANELS, strict=True):
        for (name, marks), (marker, above) in zip(growing.items(), LINES, strict=False):
            values = [mark[what] for mark in marks]
            ax.plot(windows[: len(values)], values, marker=marker, label=name if what == PANELS[0][0] else None)
            for window, value in zip(windows, values, strict=False):
                ax.annotate(
                    f"{value:,.0f}", (window, value), (0, above), textcoords="offset points", ha="center", fontsize=8
                )
        ax.set(xlabel="documents remembered", ylabel=label, xscale="log", xticks=list(windows))
        ax.set_xticklabels([f"{window:,}" for window in windows])
        ax.set_ylim(bottom=0)
        ax.margins(x=0.1, y=0.15)
        ax.minorticks_off()
        ax.spines[["top", "right"]].set_visible(False)
    figure.legend(frameon=False, loc="outside upper center", ncols=2, fontsize=8)
    figure.savefig(path, dpi=130)
