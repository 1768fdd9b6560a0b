"""How terms read in the first documents of a story, whatever mappings tell it, against one plain dict."""

from __future__ import annotations

import random

import numpy as np
import pytest

from firststory.state import flatten, pack_state, unflatten, unpack_state
from firststory.stories.presentation import Presentation, Representative
from firststory.stories.saved_stories import restored_stories, saved_stories
from firststory.stories.story import GrowingStory
from firststory.text.surfaces import TextForms


def as_text(forms: dict[int, str]) -> TextForms:
    text = " ".join(forms.values())
    lengths = np.array([len(form) + 1 for form in forms.values()], dtype=np.int32)
    ends = np.cumsum(lengths, dtype=np.int32) - 1
    return TextForms(text, np.array(list(forms), dtype=np.int32), ends - lengths + 1, ends)


@pytest.mark.parametrize("seed", range(20))
def test_the_first_document_tells_how_a_term_reads(seed):
    draw = random.Random(seed)
    shown, plain = Presentation(Representative("a", "Storm")), {}
    for n in range(draw.randint(1, 4)):
        forms = {column: f"Form{column}of{n}" for column in draw.sample(range(30), draw.randint(1, 20))}
        shown.add_surfaces(as_text(forms) if draw.random() < 0.5 else forms)
        plain = {**forms, **plain}
    assert list(shown.surfaces.items()) == list(plain.items())
    assert [shown.surface_of(column) for column in range(30)] == [plain.get(column) for column in range(30)]
    heaviest = draw.sample(range(30), 12)
    shown.set_key_terms(heaviest, size=1)
    assert shown.key_terms == tuple(plain[column] for column in heaviest if column in plain)[:8]
    story = GrowingStory(7, 0, shown.representative)
    story.presentation = shown
    (again,) = restored_stories(unflatten(unpack_state(pack_state(flatten(saved_stories([story]))))), {7: 0})
    assert list(again.presentation.surfaces.items()) == list(plain.items())
    assert list(map(type, again.presentation.get_surfaces())) == list(map(type, shown.get_surfaces()))
    assert again.presentation.key_terms == shown.key_terms
    shown.keep_surfaces(heaviest)
    assert shown.surfaces == {column: plain[column] for column in heaviest if column in plain}
