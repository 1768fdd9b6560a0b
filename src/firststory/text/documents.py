"""Check the texts that a vectorizer is given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from firststory.errors import ParameterError


def checked_documents(texts: Iterable[str], owner: object) -> Sequence[str]:
    """The texts as a list, or an error that names the first that is none."""
    documents = [] if isinstance(texts, (str, bytes)) else list(texts)
    bad = None
    if not set(map(type, documents)) <= {str}:
        bad = next((i for i, text in enumerate(documents) if not isinstance(text, str)), None)
    if isinstance(texts, (str, bytes)) or bad is not None:
        raise ParameterError(
            owner=type(owner).__name__,
            parameter="texts",
            allowed="an iterable of str, one per document",
            received=f"one {type(texts).__name__}" if bad is None else f"{type(documents[bad]).__name__} at {bad}",
            remedy="Pass a list of texts; decode bytes and leave out documents without text first.",
        )
    return documents
