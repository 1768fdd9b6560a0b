"""Stories against labels, and which story a document belongs to in the end."""

from __future__ import annotations

import pytest

from firststory.evaluate import StandingStories, story_scores
from firststory.records import Document, Step, Story, Storyline, Verdict


def test_stories_that_match_the_labels():
    scores = story_scores(["a", "a", "b", "b"], ["s1", "s1", "s2", "s2"])
    assert (scores.precision, scores.recall, scores.f1, scores.nmi, scores.purity) == (1, 1, 1, 1, 1)
    assert (scores.n_stories, scores.largest) == (2, 0.5)


def test_everything_in_one_story():
    scores = story_scores(["a", "a", "a", "b"], ["s"] * 4)
    assert scores.precision == pytest.approx((3 * 0.75 + 0.25) / 4) and scores.recall == 1.0
    assert (scores.purity, scores.largest) == (0.75, 1.0)


def test_documents_without_a_label_count_for_the_size_only():
    scores = story_scores(["a", None, None, "b"], ["s1", "s1", "s1", "s2"])
    assert (scores.f1, scores.purity, scores.largest, scores.n_stories) == (1.0, 1.0, 0.75, 2)


def test_documents_without_a_story_stand_alone():
    scores = story_scores(["a", "a"], [None, None])
    assert (scores.precision, scores.recall, scores.n_stories) == (1.0, 0.5, 2)


def test_purity_is_that_of_the_fifteen_largest():
    # Fifteen pure stories of two, and a mixed one of two that is the sixteenth.
    labels = [f"l{i // 2}" for i in range(30)] + ["x", "y"]
    stories = [f"s{i // 2}" for i in range(30)] + ["z", "z"]
    assert story_scores(labels, stories).purity == 1.0
    # As the largest it is among them.
    assert story_scores([*labels, "x", "y"], [*stories, "z", "z"]).purity == pytest.approx((14 + 0.5) / 15)


def test_of_several_labels_the_first_counts():
    assert story_scores([["a", "b"], "a"], ["s", "s"]).f1 == 1.0


def told(document, story, duplicate_of=None):
    return Verdict(Document(document, ""), 1.0, None, True, story=story, duplicate_of=duplicate_of)


def story(name, **more):
    return Story(name, "", None, None, 1, "", **more)


def line(name, **more):
    return Storyline(name, "", None, None, 1, 1, **more)


def test_merges_are_followed_to_their_end():
    standing = StandingStories()
    verdicts = (told("a", "s1"), told("b", "s2"), told("c", "s3"), told("d", None))
    standing.update(Step(0, verdicts, stories=(story("s1"), story("s2"), story("s3"))))
    standing.update(Step(1, (), stories=(story("s3", status="merged", merged_into="s2"),)))
    standing.update(Step(2, (), stories=(story("s2", status="merged", merged_into="s1"),)))
    assert [standing.story_of(name) for name in "abcd"] == ["s1", "s1", "s1", None]
    assert standing.story_of("unheard of") is None


def test_a_duplicate_goes_where_its_original_goes():
    standing = StandingStories()
    standing.update(Step(0, (told("a", "s1"), told("b", "s1", duplicate_of="a"))))
    merged = story("s1", status="merged", merged_into="s2")
    standing.update(Step(1, (told("c", "s3", duplicate_of="forgotten"),), stories=(merged,)))
    assert [standing.story_of(name) for name in "abc"] == ["s2", "s2", "s3"]


def test_the_storyline_is_that_of_the_story_now():
    standing = StandingStories()
    standing.update(Step(0, (told("a", "s1"), told("b", "s2")), stories=(story("s1"), story("s2", storyline="l2"))))
    assert [standing.storyline_of(name) for name in "ab"] == [None, "l2"]
    standing.update(Step(1, (), stories=(story("s1", storyline="l1"),), storylines=(line("l1"),)))
    merged = line("l2", status="merged", merged_into="l1")
    standing.update(Step(2, (), storylines=(merged,)))
    assert [standing.storyline_of(name) for name in "ab"] == ["l1", "l1"]
