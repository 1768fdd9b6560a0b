"""Which story and storyline each document belongs to at the end of a stream, from what its steps tell."""

from __future__ import annotations

from firststory.lineage import standing
from firststory.records import Step


class StandingStories:
    """Follows merges, as a store does.

    Examples
    --------
    >>> from firststory.records import Document, Story, Verdict
    >>> def story(id, **more):
    ...     return Story(id, "", None, None, 1, "", **more)
    >>> told = tuple(Verdict(Document(x, ""), 1.0, None, True, story=y) for x, y in (("a", "s1"), ("b", "s2")))
    >>> ends = StandingStories()
    >>> ends.update(Step(0, told, stories=(story("s1", storyline="l1"), story("s2", storyline="l2"))))
    >>> ends.update(Step(1, (), stories=(story("s2", status="merged", merged_into="s1"),)))
    >>> ends.story_of("b"), ends.storyline_of("b")
    ('s1', 'l1')
    """

    def __init__(self) -> None:
        self._story: dict[str, str | None] = {}
        self._original: dict[str, str] = {}
        self._storyline: dict[str, str | None] = {}
        self._merged: dict[str, str] = {}

    def update(self, step: Step) -> None:
        """Take in what one step brought."""
        for verdict in step.verdicts:
            self._story[verdict.document.id] = verdict.story
            if verdict.duplicate_of is not None:
                self._original[verdict.document.id] = verdict.duplicate_of
        for story in step.stories:
            self._storyline[story.id] = story.storyline
            if story.merged_into is not None:
                self._merged[story.id] = story.merged_into
        for line in step.storylines:
            if line.merged_into is not None:
                self._merged[line.id] = line.merged_into

    def story_of(self, document: str) -> str | None:
        """The story that has the document now; a duplicate is where its original is."""
        original = self._original.get(document)
        found = self._story.get(document) if original is None else self._story.get(original, self._story.get(document))
        return None if found is None else standing(found, self._merged)

    def storyline_of(self, document: str) -> str | None:
        """The storyline that its story is part of now; None where there is none."""
        story = self.story_of(document)
        line = None if story is None else self._storyline.get(story)
        return None if line is None else standing(line, self._merged)
