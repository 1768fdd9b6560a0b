"""Which story a document belongs to: the same as in plain dictionaries."""

from __future__ import annotations

import numpy as np

from firststory.state import flatten, pack_state, unflatten, unpack_state
from firststory.stories import document_stories
from firststory.stories.document_stories import DocumentStories


def test_documents_follow_merges_by_id_and_by_ordinal(monkeypatch):
    monkeypatch.setattr(document_stories, "MAX_MERGED", 10)
    rng = np.random.default_rng(1)
    documents, truth, window = DocumentStories(window=50), {}, 50
    next_key = 0
    for ordinal in range(600):
        is_new = next_key == 0 or rng.random() < 0.3
        key = next_key if is_new else int(rng.choice(sorted(set(truth.values()))))
        next_key += is_new
        documents.add(f"d{ordinal}", ordinal, key)
        truth[ordinal] = key
        truth.pop(ordinal - window, None)
        distinct = sorted(set(truth.values()))
        if rng.random() < 0.2 and len(distinct) > 1:
            into, gone = sorted(rng.choice(distinct, size=2, replace=False).tolist())
            documents.merge(gone, into=into)
            truth = {one: into if its == gone else its for one, its in truth.items()}
        if ordinal % 100 == 0:
            documents = DocumentStories.from_state(unflatten(unpack_state(pack_state(flatten(documents.get_state())))))
        asked = np.arange(ordinal - 60, ordinal + 1).reshape(1, -1)
        assert documents.look_up(asked, list)[0].tolist() == [truth.get(one, -1) for one in asked[0].tolist()]
        assert [documents.key_of(f"d{one}") for one in asked[0].tolist()] == [
            truth.get(o, -1) for o in asked[0].tolist()
        ]
    assert documents.key_of("d1") == -1


def test_many_at_once_are_as_one_after_the_other():
    rng = np.random.default_rng(2)
    at_once, one_by_one, ordinal = DocumentStories(window=7), DocumentStories(window=7), 0
    for n in rng.integers(0, 20, size=60).tolist():
        ids = [f"d{number}" for number in rng.integers(0, 30, size=n).tolist()]  # some come again
        ordinals = np.where(rng.random(n) < 0.2, -1, np.arange(ordinal, ordinal + n))
        keys = rng.integers(0, 5, size=n)
        at_once.add_all(ids, ordinals, keys)
        for given in zip(ids, ordinals.tolist(), keys.tolist(), strict=True):
            one_by_one.add(*given)
        ordinal += n
        assert pack_state(flatten(at_once.get_state())) == pack_state(flatten(one_by_one.get_state()))
