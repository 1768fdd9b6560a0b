"""Title columns: those of the title or the first line, whatever the text says besides."""

import numpy as np

from firststory.pipeline.fingerprints import full_text
from firststory.pipeline.titles import title_columns, title_length
from firststory.records import Document
from firststory.text.chunks import CHUNK
from firststory.text.vectorizer import StreamVectorizer

BODY = "The river rose by two metres while sirens woke the town."
DOCUMENTS = [
    Document(id="own", title="Harbour bridge closed", text=BODY),
    Document(id="line", text="Mayor resigns over budget\n" + BODY),
    Document(id="headline", text="Storm floods the harbour"),
    Document(id="begins", title="Vote on pensions", text="Vote on pensions\n" + BODY),
    Document(id="long", title="Harbour festival", text="flood " * (CHUNK // 4)),
    Document(id="after", title="Quake", text=BODY),
    Document(id="only", title="Quake in Oslo", text=" "),
]


def test_columns_are_those_of_the_title_alone():
    vectorizer = StreamVectorizer(language="en", weighting="count", norm=None, short=30)
    vectorizer.partial_fit_with_counts([full_text(one) for one in DOCUMENTS])
    found = title_columns(vectorizer, DOCUMENTS, range(len(DOCUMENTS)), len(DOCUMENTS))
    titles = [
        "Harbour bridge closed",
        "Mayor resigns over budget",
        "",
        "Vote on pensions",
        "Harbour festival",
        "Quake",
        "",
    ]
    for columns, title in zip(found, titles, strict=True):
        expected = sorted({token.column for token in vectorizer.tokens(title)}) if title else []
        assert columns.tolist() == expected


def test_places_may_skip_documents():
    vectorizer = StreamVectorizer(language="en", weighting="count", norm=None)
    vectorizer.partial_fit_with_counts([full_text(one) for one in DOCUMENTS])
    every = title_columns(vectorizer, DOCUMENTS, range(len(DOCUMENTS)), len(DOCUMENTS))
    some = title_columns(vectorizer, DOCUMENTS[1:6:2], [1, 3, 5], len(DOCUMENTS))
    assert all(np.array_equal(a, b) for a, b in zip(some, every[1:6:2], strict=True))


def test_a_text_without_a_line_below_has_no_title_besides():
    assert title_length(Document(id="1", text="x" * 400 + "\nbody")) == 0
    assert title_length(Document(id="2", text="Flood\n  \n")) == 0
