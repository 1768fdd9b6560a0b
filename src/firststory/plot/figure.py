"""A matplotlib figure, or the error that says how to install matplotlib."""

from __future__ import annotations

from typing import Any

from firststory.errors import MissingExtraError


def new_figure(**options: Any) -> Any:
    """A Figure of its own, not pyplot's global one: no window opens, nothing leaks in a long-running process."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtraError("firststory.plot", "matplotlib", "plot") from error
    return Figure(**options)


def axes_or_new(ax: Any, size: tuple[float, float]) -> Any:
    """The axes to draw on: those given, or new ones."""
    return new_figure(figsize=size, layout="constrained").add_subplot() if ax is None else ax
