"""Which headlines are no reports."""

from __future__ import annotations

import random

import pytest

from firststory import headlines


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("WHO declares emergency", False),
        ("Who was he?", True),
        ("Five takeaways from the vote", True),
        ("Five killed in Genoa", False),
        ("What to Know", True),
        ("Bridge collapses: live updates", True),
        ("I’m not afraid", True),
        ("Delhi was dark", False),
        ("", False),
    ],
)
def test_formats_are_told_from_reports(text, expected):
    assert headlines.is_format(text) is expected


def test_the_quick_look_misses_nothing_that_the_expression_finds():
    pieces = ["we", "to", "know", "Know.", "my", "MY", "army", "live", "blog", "updates", "I", "I'm", "I've", "I will",
              "closer look", "Takeaways", "why?", "a?b", "bridge", "Mali was", "dies"]  # fmt: skip
    chance = random.Random(1)
    for _ in range(20_000):
        text = "x " + " ".join(chance.choices(pieces, k=chance.randrange(1, 5)))
        assert headlines.is_format(text) is (headlines._HAS.search(text) is not None), text
