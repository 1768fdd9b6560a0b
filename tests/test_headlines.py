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


def test_the_quick_look_at_the_beginning_misses_no_format():
    words = ["Watch", "LIVE", "opinion", "analysis", "Commentary", "in pictures", "In", "fact check", "explainer",
             "who", "transcript", "editorial", "how", "Why", "what", "Here’s", "this", "These", "the latest", "the",
             "12 things", "٣ ways", "two", "Three ways", "five reasons", "seven takeaways", "ten", "Letter to",
             "letters", "read the", "Full text", "full", "quiz:", "photo |", "videos –", "podcast -", "Listen:",
             "review", "bridge", "İn", "wa", "ﬁve", ""]  # fmt: skip
    for begin in words:
        for text in (begin, f"{begin} things", f"{begin}: pictures", begin.upper(), begin.title()):
            found = headlines._BEGINS.match(text) or headlines._HAS.search(text)
            assert headlines.is_format(text) is (found is not None), text
