"""Which words are never shown to people, in a stream of several languages."""

from __future__ import annotations

from functools import lru_cache

from firststory.text.language import CARRIES_NEWS, stop_words

NEWS_ELSEWHERE = frozenset({
    *CARRIES_NEWS,
    "air", "april", "australia", "ban", "bank", "car", "care", "china", "cia", "comment", "die", "dies", "dog",
    "door", "drug", "email", "eu", "final", "fine", "force", "global", "hat", "hit", "indonesia", "kim", "local",
    "male", "man", "mayor", "media", "met", "multiple", "november", "post", "press", "program", "rare", "sale",
    "save", "sea", "sex", "son", "start", "store", "sue", "suit", "ties", "tom", "van", "vice", "war", "word",
})  # fmt: skip
"""Stop words of one language that are news in another: a stream in English and German still tells of war."""


@lru_cache(maxsize=64)
def hidden_words(languages: tuple[str, ...]) -> frozenset[str]:
    """Stop words of any of several languages. A document in two of them, or mistaken for the other, brings such words.

    Examples
    --------
    >>> "mga" in hidden_words(("en", "tl")), "flood" in hidden_words(("en", "tl"))
    (True, False)
    """
    if len(languages) < 2:
        return frozenset(*map(stop_words, languages))
    return frozenset().union(*map(stop_words, languages)) - NEWS_ELSEWHERE
