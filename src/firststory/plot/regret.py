"""Regret of on-line learners over the length of the stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.plot.detection import SIZE
from firststory.plot.figure import axes_or_new


def regret(curves: Mapping[str, NDArray[np.float64]], ax: Any = None) -> Any:
    """R(n) over n on a logarithmic axis, one line a learner; rows of a two-dimensional curve are runs.

    Growth as log n is a straight line. The dotted guides go on from the first curve's value at a tenth of the stream
    as log n and as sqrt n (the order of the proved bound).

    Examples
    --------
    >>> import numpy as np, firststory as fs
    >>> fs.plot.regret({"leader": np.log(np.arange(1, 100.0))}).get_ylabel()
    'regret'
    """
    ax = axes_or_new(ax, SIZE)
    longest, anchor = 1, None
    for name, values in curves.items():
        runs = np.atleast_2d(values)
        n = np.arange(1, runs.shape[1] + 1)
        (line,) = ax.plot(n, runs.mean(axis=0), label=name, linewidth=1.8)
        if len(runs) > 1:
            ax.fill_between(n, runs.min(axis=0), runs.max(axis=0), color=line.get_color(), alpha=0.12, linewidth=0)
        longest = max(longest, len(n))
        if anchor is None:
            at = max(len(n) // 10, 1)
            anchor = at, float(runs.mean(axis=0)[at - 1])
    if anchor is not None and longest > 10 and anchor[0] > 1 and anchor[1] > 0:
        n = np.geomspace(anchor[0], longest, 50)
        at, value = anchor
        guides = {"log n": np.log(n) / np.log(at), "√n": np.sqrt(n / at)}
        for name, growth in guides.items():
            ax.plot(n, value * growth, color="0.45", linewidth=1.0, linestyle=":")
            ax.annotate(name, (n[-1], value * growth[-1]), xytext=(3, 0), textcoords="offset points", color="0.35")
    ax.set(xscale="log", xlabel="documents n", ylabel="regret", xlim=(1, 1.25 * longest), ylim=(0, None))
    ax.grid(alpha=0.25)
    ax.legend(frameon=False, fontsize="small")
    return ax
