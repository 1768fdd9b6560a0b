"""Document -> sparse row: `StreamVectorizer`, its `Token`s, and the `Remap` of a pruning."""

from __future__ import annotations

from firststory.text.records import Token
from firststory.text.vectorizer import StreamVectorizer
from firststory.text.vocabulary import Remap, Vocabulary

__all__ = ["StreamVectorizer", "Token", "Remap", "Vocabulary"]
