"""Planted topics in random order: the setting of `planted_topics` in which every document's topic is drawn."""

from __future__ import annotations

from functools import partial

from firststory.lab.experiments.planted_topics import Planted, run_planted
from firststory.lab.experiments.single_topic import Setting

TITLE = "SpectralLeader on planted topics (stochastic)"

SETTINGS = (Setting(0.9, 1, 1000), Setting(0.7, 1, 1000), Setting(0.9, 100, 100), Setting(0.7, 100, 100))

PLANTED = Planted(
    name="spectral-synthetic",
    stochastic=True,
    settings=SETTINGS,
    quick_settings=(Setting(0.9, 1, 30), Setting(0.9, 20, 5)),
    reference={
        (SETTINGS[0].name, "nll"): (2.118, 2.127, 2.287, 2.207, 2.246),
        (SETTINGS[0].name, "recovery"): (0.0043, 0.0053, 0.0206, 0.0116, 0.0134),
        (SETTINGS[1].name, "nll"): (3.051, 3.065, 3.116, 3.071, 3.073),
        (SETTINGS[1].name, "recovery"): (0.0041, 0.0056, 0.0115, 0.0053, 0.0047),
        (SETTINGS[2].name, "nll"): (2.090, 2.110, 2.120, 2.143, 2.192),
        (SETTINGS[2].name, "recovery"): (0.0004, 0.0024, 0.0027, 0.0040, 0.0080),
        (SETTINGS[3].name, "nll"): (2.987, 3.010, 3.006, 3.014, 3.025),
        (SETTINGS[3].name, "recovery"): (0.0004, 0.0028, 0.0013, 0.0019, 0.0030),
    },
    regret={"p = 0.9": (1.99, 2.55, 2.85), "p = 0.7": (1.53, 1.81, 2.33)},
)

run = partial(run_planted, PLANTED)
