"""Regret of on-line learners over the length of the stream."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firststory.plot.detection import SIZE
from firststory.plot.figure import axes_or_new


def regret(curves: Mapping[str, NDArray[np.float64]], ax: Any = None) -> Any:
    """R(n) over n on a logarithmic axis, one line per learner; rows of a two-dimensional curve are runs.

    The line is the mean over the runs, the band holds all of them. Growth as log n is a straight line. The dotted and
    dashed guides continue the first curve from a tenth of the stream as log n and as sqrt n (the order of the bound).

    Examples
    --------
    >>> import numpy as np, firststory as fs
    >>> fs.plot.regret({"leader": np.log(np.arange(1, 100.0))}).get_ylabel()
    'regret'
    """
    ax = axes_or_new(ax, SIZE)
    longest, lowest, anchor = 1, 0.0, None
    for name, values in curves.items():
        runs = np.atleast_2d(values)
        n = np.arange(1, runs.shape[1] + 1)
        label = f"{name}: mean, band: all {len(runs)} runs" if len(runs) > 1 else name
        (line,) = ax.plot(n, runs.mean(axis=0), label=label, linewidth=1.8)
        if len(runs) > 1:
            ax.fill_between(n, runs.min(axis=0), runs.max(axis=0), color=line.get_color(), alpha=0.15, linewidth=0)
        longest, lowest = max(longest, len(n)), min(lowest, float(runs.min()))
        if anchor is None:
            at = max(len(n) // 10, 1)
            anchor = name, at, float(runs.mean(axis=0)[at - 1])
    if anchor is not None and longest > 10 and anchor[1] > 1 and anchor[2] > 0:
        name, at, value = anchor
        n = np.geomspace(at, longest, 50)
        for growth, style, values in (
            ("log n", ":", np.log(n) / np.log(at)),
            ("√n", "--", np.sqrt(n / at)),
        ):
            label = f"{name} at n = {at}, continued as {growth}"
            ax.plot(n, value * values, color="0.35", linewidth=1.2, linestyle=style, label=label)
    ax.set(xscale="log", xlabel="documents n", ylabel="regret", xlim=(1, 1.05 * longest), ylim=(1.05 * lowest, None))
    ax.grid(alpha=0.25)
    # Under the axes: bands are wide, and there is no corner that is always free.
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), frameon=False, fontsize="small", ncols=1)
    return ax
