"""One mapping as a document: who published it, under whatever name."""

from __future__ import annotations

import json

import pytest

from firststory.datasets.labelled import read_labelled
from firststory.sources.parse import document_from


@pytest.mark.parametrize(
    ("fields", "source"),
    [
        ({"source": "AP", "origin": "CNN", "publisher": "BBC"}, "AP"),
        ({"source": "", "origin": "CNN", "publisher": "BBC"}, "CNN"),
        ({"origin": "  ", "publisher": " BBC "}, "BBC"),
        ({"origin": {"name": "CNN"}, "publisher": 7}, None),
        ({}, None),
    ],
)
def test_the_source_may_have_another_name(fields, source):
    document = document_from({"text": "Flood in Bremen", **fields})
    assert document.source == source
    # Nothing is lost, and the id of a line does not depend on which name was believed.
    assert document.extra == {key: value for key, value in fields.items() if key != "source"}


def test_the_corpora_are_read_by_the_same_names(tmp_path):
    lines = [{"text": "a", "origin": "CNN"}, {"text": "b", "publisher": "BBC"}, {"text": "c", "source": "AP"}]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert [d.source for d in read_labelled(tmp_path / "s.jsonl").documents] == ["CNN", "BBC", "AP"]
