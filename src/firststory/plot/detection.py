"""How well a detector tells new from known: DET curves and AUC over timesteps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import ndtri

from firststory.evaluate.ranking import StepAuc
from firststory.evaluate.tdt import DetCurve
from firststory.plot.figure import axes_or_new

SIZE = (6.0, 5.5)
_TICKS = (0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9, 0.98)


def det(curves: Mapping[str, DetCurve], ax: Any = None) -> Any:
    """DET curves on normal-deviate axes: nearer to the lower left corner is better.

    Examples
    --------
    >>> import firststory as fs
    >>> curve = fs.evaluate.det_curve([True, False, True, False], [0.9, 0.4, 0.3, 0.1])
    >>> fs.plot.det({"mine": curve}).get_xlabel()
    'false alarms'
    """
    ax = axes_or_new(ax, SIZE)
    for name, curve in curves.items():
        fa, miss = curve.deviates()
        ax.plot(fa, miss, label=name, drawstyle="default", linewidth=1.6)
    ticks = [tick for tick in _TICKS if 1e-3 <= tick <= 0.98]
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_ticks(ndtri(ticks), [f"{100 * tick:g}%" for tick in ticks])
    low, high = float(ndtri(0.0008)), float(ndtri(0.985))
    ax.set(xlim=(low, high), ylim=(low, high), xlabel="false alarms", ylabel="misses", aspect="equal")
    ax.grid(alpha=0.25)
    ax.legend(frameon=False, fontsize="small")
    return ax


def roc_by_step(results: Mapping[str, StepAuc], ax: Any = None) -> Any:
    """AUC at each timestep, one line a detector; the legend gives the average."""
    ax = axes_or_new(ax, SIZE)
    for name, result in results.items():
        defined = ~np.isnan(result.auc)
        ax.plot(result.step[defined], result.auc[defined], marker="o", label=f"{name} ({result.average:.3f})")
    ax.axhline(0.5, color="0.7", linewidth=0.8, linestyle=":")
    ax.set(xlabel="timestep", ylabel="AUC", ylim=(None, 1.005))
    ax.grid(alpha=0.25)
    ax.legend(frameon=False, fontsize="small", title="average in brackets")
    return ax
