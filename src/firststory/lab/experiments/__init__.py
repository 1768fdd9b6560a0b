"""One file a table or figure of the papers; `firststory reproduce NAME` prints it, published beside measured.

Each module has `TITLE` and `run(*, quick, out) -> str`: the Markdown of its section, figures written into the folder
`out` as `<name>-<figure>.png`. `quick` is a small version of the same for the tests.
"""

from __future__ import annotations

EXPERIMENTS: dict[str, str] = {
    "fused-novelty": "fused_novelty",
    "fused-novelty-details": "fused_details",
    "fused-trials": "fused_trials",
    "encoder": "encoder",
    "hashing-yardsticks": "hashing_yardsticks",
    "bars": "bars",
    "moving-bars": "moving_bars",
    "newsgroup-threads": "newsgroup_threads",
    "event-words": "event_words",
    "nmf-time": "nmf_time",
    "tdt-mixture": "tdt_mixture",
    "spectral-synthetic": "spectral_synthetic",
    "spectral-nonstochastic": "spectral_nonstochastic",
    "spectral-real": "spectral_real",
    "tokenisation": "tokenisation",
    "languages": "languages",
    "tdt2": "tdt2",
    "tdt2-k": "tdt2_k",
    "l1-settings": "l1_settings",
    "emerging-topics": "emerging_topics",
    "stories": "stories",
    "topic-births": "topic_births",
    "alert-budget": "alert_budget",
    "events": "events",
    "event-settings": "event_settings",
}
"""Name on the command line -> module in this package."""
