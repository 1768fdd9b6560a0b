"""Speed and memory beside the peers that are installed, as ratios measured in one run.

Each module has `TITLE` and `run(*, quick) -> str`: the Markdown of its section. A peer that is not installed is
skipped with its reason in the table.
"""

from __future__ import annotations

BENCHMARKS: dict[str, str] = {
    "step": "step",
    "fused": "fused",
    "run": "whole_run",
    "cores": "cores",
    "memory": "memory",
    "start": "start",
    "neighbours": "neighbours",
    "vectorizer": "vectorizer",
    "phrases": "phrases",
    "nmf": "nmf",
    "mixture": "mixture",
    "clustering": "clustering",
    "spectral": "spectral",
    "l1-coding": "l1_coding",
    "gpu": "gpu",
    "engines": "engines",
    "scale": "scale",
    "load": "load",
    "serve": "serve",
}
"""Name on the command line -> module in this package."""
