"""Small numbers in words, and words in lists."""

from __future__ import annotations

from collections.abc import Sequence

_SMALL = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def in_words(n: int) -> str:
    """
    >>> in_words(4), in_words(40), in_words(1400)
    ('four', '40', '1,400')
    """
    return _SMALL[n] if n < len(_SMALL) else f"{n:,}"


def sentence(words: str) -> str:
    """With a capital at its beginning, also within a quotation mark; nothing else is changed.

    Examples
    --------
    >>> sentence("two sources"), sentence("“vote” is new")
    ('Two sources', '“Vote” is new')
    """
    at = 1 if words[:1] == "“" else 0
    return words[:at] + words[at : at + 1].upper() + words[at + 1 :]


def listed(words: Sequence[str]) -> str:
    """
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
