"""What a step does for its topics: learn the documents once they have their stories, then tell what changed."""

from __future__ import annotations

from firststory.pipeline.beside import Started
from firststory.pipeline.judged_batch import JudgedBatch
from firststory.pipeline.parts import Parts
from firststory.pipeline.rows import without_common
from firststory.pipeline.storyline_topics import StorylineTopics
from firststory.records import Topic, TopicEvent
from firststory.stories.tracker import StoryChanges
from firststory.text.phrases.found import ReadDocuments


def learn_topics(parts: Parts, judged: JudgedBatch, phrases: ReadDocuments, *, beside: bool = False) -> Started[None]:
    """Learn the documents of a batch; all have their stories. A topic model does it `beside` what comes next."""
    topics, batch, unit = parts.topics, judged.read, judged.unit
    if topics is None or batch is None or not batch.documents:
        return Started(_nothing)
    if isinstance(topics, StorylineTopics):
        distinct = [one for one in batch.documents if one.duplicate_of is None]
        stories = [None if one.assignment is None else one.assignment.story for one in distinct]
        topics.learn(stories, phrases, [one.place for one in distinct], batch.languages)
        return Started(_nothing)
    places = [one.place for one in batch.documents]
    assert unit is not None  # only topics that are storylines are placed in another process
    topics.learn_missing_surfaces(unit, parts.vectorizer.last_surface_forms, places)
    for one in batch.documents:
        if one.is_novel:
            topics.learn_surfaces(one.tokens)
    beside = beside and hasattr(topics.model, "components_")  # the first time its kernels are compiled or loaded
    return Started(topics.learn, without_common(unit, parts.vectorizer), beside=beside)


def _nothing() -> None:
    pass


def tell_topics(
    parts: Parts, changes: StoryChanges, step: int, seconds: float | None
) -> tuple[tuple[Topic, ...], tuple[TopicEvent, ...]]:
    """The topics after a step, where it is time to look at them; `seconds` is now, None in a stream without times."""
    topics = parts.topics
    if topics is None:
        return (), ()
    if isinstance(topics, StorylineTopics):
        topics.follow(changes.stories, changes.storylines)
        return topics.report(step, seconds, parts.phrases)
    return topics.report(parts.vectorizer.terms_, step, seconds, surface_of=parts.stories.surface_of)
