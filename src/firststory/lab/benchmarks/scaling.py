"""Strong and weak scaling of a window in segments, from what `scale` measured: one worker against two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

PAIRS = {"threads": ("serial", "threads:2"), "dask": ("dask://local:1", "dask://local:2")}
"""An engine with one worker, and the same with two."""


def scaling(
    work: Mapping[int, tuple[float, float]], walls: Mapping[tuple[int, str], float], windows: Sequence[int]
) -> str:
    """The Markdown. `work`: µs of a worker that has the whole window, and of the busier one of two; `walls`: ms of a step."""
    return "\n".join([*_strong(work, walls, windows), "", *_weak(work, walls, windows), ""])


def _strong(
    work: Mapping[int, tuple[float, float]], walls: Mapping[tuple[int, str], float], windows: Sequence[int]
) -> list[str]:
    lines = [
        (
            "**Strong scaling**: the same window on one worker and on two, and how many times quicker two are (2.00x is all that "
            "can be had). *Processor time* is the segments' own work for a document; *wall clock* the best step, driver included, "
            "which runs alone while workers wait."
        ),
        "",
        "| window | what | 1 worker | 2 workers | gain |",
        "|---|---|---|---|---|",
    ]
    for window in windows:
        one, two = work[window]
        lines.append(f"| {window:,} | processor time, µs a document | {one:.0f} | {two:.0f} | {one / two:.2f}x |")
        for name, pair in PAIRS.items():
            if all((window, engine) in walls for engine in pair):
                a, b = (walls[window, engine] for engine in pair)
                lines.append(f"| {window:,} | wall clock, {name}, ms a step | {a:.1f} | {b:.1f} | {a / b:.2f}x |")
    return lines


def _weak(
    work: Mapping[int, tuple[float, float]], walls: Mapping[tuple[int, str], float], windows: Sequence[int]
) -> list[str]:
    lines = [
        (
            "**Weak scaling**: twice the window on twice the workers. At 1.00x a document of the larger window takes no longer; "
            "below, longer."
        ),
        "",
        "| window | what | 1 worker, half of it | 2 workers, all of it | half / all |",
        "|---|---|---|---|---|",
    ]
    for window in windows:
        half = window // 2
        if half not in work:
            continue
        one, two = work[half][0], work[window][1]
        lines.append(f"| {window:,} | processor time, µs a document | {one:.0f} | {two:.0f} | {one / two:.2f}x |")
        for name, (alone, both) in PAIRS.items():
            if (half, alone) in walls and (window, both) in walls:
                a, b = walls[half, alone], walls[window, both]
                lines.append(f"| {window:,} | wall clock, {name}, ms a step | {a:.1f} | {b:.1f} | {a / b:.2f}x |")
    return lines
