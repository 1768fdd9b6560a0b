"""What a publisher puts into its texts: share buttons, datelines, "contributed to this report", VIDEO:.

The reader learns it per source, from 15 documents on (`kernels/phrases/boilerplate.py`): 4-grams of tokens, signs
included, that more than a seventh of a source's documents have, and a document of another source at most a third as
likely; and marks before a colon that more than 2 % have, if their words hardly occur otherwise.
"""

from __future__ import annotations

from firststory.records import Document
from firststory.text.phrases.reader import PhraseReader


def boilerplate_spans(reader: PhraseReader, document: Document) -> list[tuple[int, int]]:
    """Where boilerplate begins and ends in the document's text; nothing for a document without a source."""
    return reader.read([document]).boilerplate(0)


def without_boilerplate(reader: PhraseReader, document: Document) -> str:
    """The document's text with a space in place of each piece of boilerplate.

    Examples
    --------
    >>> reader = PhraseReader()
    >>> texts = [f"Story number {n} of the day\\nRead more on our web site." for n in range(30)]
    >>> _ = reader.learn(Document(id=str(n), text=text, source="Daily") for n, text in enumerate(texts))
    >>> _ = reader.learn(Document(id=f"other {n}", text="Storm closes bridge", source="Times") for n in range(30))
    >>> flood = Document(id="x", text="Flood in the valley\\nRead more on our web site.", source="Daily")
    >>> without_boilerplate(reader, flood)
    'Flood in the valley\\n '
    """
    kept, behind = [], 0
    for begin, end in boilerplate_spans(reader, document):
        kept.append(document.text[behind:begin])
        behind = end
    return " ".join([*kept, document.text[behind:]])
