"""Growing stories as columns: a model holds thousands, and saves them often."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from firststory.arrays import Columns
from firststory.ragged import counts, joined, parted, parts
from firststory.state import State
from firststory.stories.activity import Activity
from firststory.stories.presentation import Presentation, Representative
from firststory.stories.story import GrowingStory
from firststory.text_forms import TextForms


def saved_stories(stories: Sequence[GrowingStory]) -> State:
    """All but the rows of the members. Only open stories are saved."""
    latest = [story.latest for story in stories]
    return {
        "keys": [story.key for story in stories],
        "sizes": [story.size for story in stories],
        "duplicates": [story.duplicates for story in stories],
        "latest": {
            "counts": counts(latest),
            "numbers": [number for members in latest for number, _ in members],
            "ids": [one.id for members in latest for _, one in members],
            "titles": [one.title for members in latest for _, one in members],
        },
        "activity": _saved_activity([story.activity for story in stories]),
        "presentation": _saved_presentation([story.presentation for story in stories]),
    }


def restored_stories(state: State, slots: Mapping[int, int]) -> Iterator[GrowingStory]:
    """Undo `saved_stories`, given the slot of each key."""
    latest = state["latest"]
    members = zip(latest["numbers"], map(Representative, latest["ids"], latest["titles"]), strict=True)
    columns = (
        state["keys"],
        state["sizes"],
        state["duplicates"],
        parts(latest["counts"], members),
        _activities(state["activity"]),
        _presentations(state["presentation"]),
    )
    for key, size, duplicates, own, activity, presentation in zip(*columns, strict=True):
        story = GrowingStory(key, slots[key], presentation.representative)
        story.size, story.duplicates, story.latest = size, duplicates, own
        story.activity, story.presentation = activity, presentation
        yield story


def _saved_activity(every: Sequence[Activity]) -> State:
    return {
        "first": _seconds([one.first for one in every]),
        "last": _seconds([one.last for one in every]),
        "hours": _pairs([one.hours for one in every]),
        "sources": _pairs([one.sources for one in every]),
    }


def _activities(state: State) -> Iterator[Activity]:
    columns = (_times(state["first"]), _times(state["last"]), _dicts(state["hours"]), _dicts(state["sources"]))
    for first, last, hours, sources in zip(*columns, strict=True):
        activity = Activity()
        activity.first, activity.last, activity.hours, activity.sources = first, last, hours, sources
        yield activity


def _saved_presentation(every: Sequence[Presentation]) -> State:
    surfaces = [one.get_surfaces() for one in every]
    return {
        "ids": [one.representative.id for one in every],
        "titles": [one.representative.title for one in every],
        "title_sizes": [one.title_size for one in every],
        "key_terms": joined([one.key_terms for one in every]),
        "terms_sizes": [one.terms_size for one in every],
        "texts": counts(surfaces),
        "surfaces": _saved_surfaces(list(chain.from_iterable(surfaces))),
    }


def _presentations(state: State) -> Iterator[Presentation]:
    columns = (
        map(Representative, state["ids"], state["titles"]),
        state["title_sizes"],
        parted(state["key_terms"]),
        state["terms_sizes"],
        parts(state["texts"], _surfaces(state["surfaces"])),
    )
    for representative, title_size, key_terms, terms_size, surfaces in zip(*columns, strict=True):
        presentation = Presentation(representative)
        presentation.title_size, presentation.terms_size = title_size, terms_size
        presentation.key_terms = tuple(key_terms)
        presentation.set_surfaces(surfaces)
        yield presentation


def _saved_surfaces(every: Sequence[Mapping[int, str]]) -> State:
    """How terms read, text by text, the words of each joined: there are a million of them."""
    texts = [one.as_joined() if isinstance(one, TextForms) else _joined_words(one) for one in every]
    nothing = np.empty(0, np.int32)
    return {
        "texts": [text for text, _, _ in texts],
        # What came as a dict is a dict again, so that it goes on as it would have.
        "is_dict": np.array([isinstance(one, dict) for one in every], dtype=np.bool_),
        "counts": counts(every),
        "columns": np.concatenate([nothing, *(columns for _, columns, _ in texts)]),
        "lengths": np.concatenate([nothing, *(lengths for _, _, lengths in texts)]),
    }


def _joined_words(surfaces: Mapping[int, str]) -> tuple[str, Columns, Columns]:
    words, n = surfaces.values(), len(surfaces)
    return "".join(words), np.fromiter(surfaces, np.int32, n), np.fromiter(map(len, words), np.int32, n)


def _surfaces(state: State) -> Iterator[Mapping[int, str]]:
    end = 0
    for text, is_dict, n in zip(state["texts"], state["is_dict"].tolist(), state["counts"].tolist(), strict=True):
        begin, end = end, end + n
        forms = TextForms.joined(text, state["columns"][begin:end], state["lengths"][begin:end])
        yield forms.whole() if is_dict else forms


def _pairs(every: Sequence[Mapping[Any, int]]) -> State:
    return {"keys": joined(every), "values": joined([one.values() for one in every])}


def _dicts(state: State) -> Iterator[dict[Any, int]]:
    keys, values = parted(state["keys"]), parted(state["values"])
    return (dict(zip(own, numbers, strict=True)) for own, numbers in zip(keys, values, strict=True))


def _seconds(times: Sequence[float | None]) -> list[float]:
    return [math.nan if time is None else time for time in times]


def _times(seconds: Iterable[float]) -> list[float | None]:
    return [None if math.isnan(time) else time for time in seconds]
