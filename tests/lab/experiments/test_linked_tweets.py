"""Tweets labelled by their links: which are kept, and that no link is shown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from firststory.lab.experiments.linked_tweets import linked_tweets
from firststory.records import Document

NOON = datetime(2015, 1, 1, 12, tzinfo=UTC)


def tweet(number, text, day=0):
    return Document(id=str(number), text=text, time=NOON + timedelta(days=day))


def test_the_same_link_is_the_same_story_and_is_not_shown():
    told = [
        tweet(0, "Flu season starts http://a.b/1"),
        tweet(1, "Eat more greens http://a.b/2", 1),
        tweet(2, "Is it the flu? http://a.b/1", 2),
        tweet(3, "is it the FLU http://a.b/1", 3),  # a copy
        tweet(4, "Twice http://a.b/1 http://a.b/2", 4),  # two links
        tweet(5, "No link at all", 5),
        tweet(6, "Again next year http://a.b/3", 6),
        tweet(7, "And again http://a.b/3", 200),  # too long after
        *(tweet(10 + i, f"Subscribe number{i} http://a.b/4", i) for i in range(11)),  # too often
    ]
    found = linked_tweets(told, alone=False)
    assert [(one.id, one.label) for one in found] == [("0", "http://a.b/1"), ("2", "http://a.b/1")]
    assert not any("http" in one.text for one in found)
    assert [one.id for one in linked_tweets(told, alone=True)] == ["0", "1", "2"]
