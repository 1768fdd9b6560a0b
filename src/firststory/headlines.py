"""What a headline is like: a report of what happened, or a format, a question, a quote."""

from __future__ import annotations

from functools import lru_cache

import regex

_BEGINS = regex.compile(
    r"(?:watch|live|opinion|analysis|commentary|in pictures|fact check|explainer|transcript|editorial|how|why|what|"
    r"(?-i:[Ww]ho)|here['’]?s|this|these|the latest|(?:\d+|two|three|five|seven|ten) (?:things|ways|takeaways|reasons)|"
    r"letters? to|read the|full (?:text|transcript|list|video))\b"
    r"|(?:quiz|photos?|videos?|podcast|listen|review|letters?)\s*[:|–—-]",
    regex.IGNORECASE,
)
_FIRST_THREE = frozenset({
    "wat", "liv", "opi", "ana", "com", "in ", "fac", "exp", "tra", "edi", "how", "why", "wha", "who", "her", "thi",
    "the", "two", "thr", "fiv", "sev", "ten", "let", "rea", "ful", "qui", "pho", "vid", "pod", "lis", "rev",
})  # fmt: skip
"""So begins, in small letters, every ASCII text that `_BEGINS` matches, but for those that begin with a digit."""
_HAS = regex.compile(
    r"\?(?=\W|$)|\blive (?:updates?|blog|stream)|takeaways|(?:we|to) know\b|closer look|\bmy\b"
    r"|(?-i:\bI['’ ](?:am|was|have|had|did|do|don|think|never|will|m|ve|ll)\b)",
    regex.IGNORECASE,
)
_HINTS = "?", "live ", "takeaways", " know", "closer look", "my"
"""One of these is in every ASCII text that `_HAS` finds, in small letters; but for what begins with I:"""
_SELVES = "I'", "I "

A_FORMAT, A_QUOTE = 0.55, 0.85


def is_format(text: str) -> bool:
    """Whether a headline or a sentence is no report: a format, a question, a column.

    Examples
    --------
    >>> [is_format(text) for text in ("Watch live: the vote", "Is the bridge safe?", "Bridge in Genoa collapses")]
    [True, True, False]
    """
    first = text[:3]
    if (first.lower() in _FIRST_THREE or first[:1].isdigit() or not first.isascii()) and _BEGINS.match(text):
        return True
    if text.isascii():  # a look for words is much quicker than the expression, and nearly always enough
        lower = text.lower()
        if not any(map(lower.__contains__, _HINTS)) and not any(map(text.__contains__, _SELVES)):
            return False
    return _HAS.search(text) is not None


@lru_cache(maxsize=1 << 12)
def format_weight(title: str) -> float:
    """1 for a title that reports, less for formats and questions.

    Examples
    --------
    >>> [format_weight(title) for title in ("WHO declares emergency", "Who was he?", "Five killed", "Five takeaways")]
    [1.0, 0.55, 1.0, 0.55]
    """
    return A_FORMAT if is_format(title) else 1.0


def report_weight(title: str) -> float:
    """`format_weight`, and less for quotes and titles in two parts too.

    Examples
    --------
    >>> report_weight("Bridge in Genoa collapses"), report_weight("Why bridges fall"), report_weight("Genoa: a bridge")
    (1.0, 0.55, 0.85)
    """
    is_quote = title[:1] in "\"'“‘" or ":" in title or "|" in title
    return format_weight(title) * (A_QUOTE if is_quote else 1.0)
