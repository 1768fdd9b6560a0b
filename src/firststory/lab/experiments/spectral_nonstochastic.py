"""Planted topics in blocks: the setting of `planted_topics` in which topics come one after another."""

from __future__ import annotations

from functools import partial

from firststory.lab.experiments.planted_topics import Planted, run_planted
from firststory.lab.experiments.single_topic import Setting

TITLE = "SpectralLeader on planted topics (non-stochastic)"

SETTINGS = (Setting(0.9, 1, 1000, stochastic=False), Setting(0.7, 1, 1000, stochastic=False))

PLANTED = Planted(
    name="spectral-nonstochastic",
    stochastic=False,
    settings=SETTINGS,
    quick_settings=(Setting(0.9, 1, 30, stochastic=False),),
    reference={
        (SETTINGS[0].name, "nll"): (2.121, 2.133, 2.017, 2.106, 2.148),
        (SETTINGS[0].name, "recovery"): (0.0240, 0.0246, 0.1388, 0.0460, 0.0268),
        (SETTINGS[1].name, "nll"): (3.036, 3.047, 2.936, 3.016, 3.055),
        (SETTINGS[1].name, "recovery"): (0.0118, 0.0129, 0.0544, 0.0188, 0.0126),
    },
    regret={"p = 0.9": (2.22, 2.94, 3.39), "p = 0.7": (1.80, 2.78, 3.50)},
)

run = partial(run_planted, PLANTED)
