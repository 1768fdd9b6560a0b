"""What a headline is like: a report of what happened, or a format, a question, a quote."""

from __future__ import annotations

import regex

FORMAT = regex.compile(
    r"^(?:watch|live|opinion|analysis|commentary|quiz|photos?|video|in pictures|review|podcast|listen|fact check|"
    r"explainer|transcript|letters?|editorial|how|why|what|who|here['’]?s|this|these|the latest|"
    r"\d+ (?:things|ways|takeaways)|five|read|full)\b"
    r"|\?|\blive (?:updates?|blog|stream)|takeaways|(?:we|to) know\b|closer look|\bI\b|\bmy\b",
    regex.IGNORECASE,
)
"""How headlines begin that are no reports: formats, questions, columns."""

A_FORMAT, A_QUOTE = 0.55, 0.85


def report_weight(title: str) -> float:
    """1 for a title that reports; less for formats and questions, and for quotes and titles in two parts.

    Examples
    --------
    >>> report_weight("Bridge in Genoa collapses"), report_weight("Why bridges fall"), report_weight("Genoa: a bridge")
    (1.0, 0.55, 0.85)
    """
    weight = A_FORMAT if FORMAT.search(title) else 1.0
    return weight * (A_QUOTE if title[:1] in "\"'“‘" or ":" in title or "|" in title else 1.0)
