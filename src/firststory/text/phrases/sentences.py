"""One sentence, taken from the documents of a burst, that tells the event."""

from __future__ import annotations

from collections.abc import Sequence

import regex

from firststory.headlines import is_format
from firststory.text.phrases.alphabet import fold
from firststory.text.phrases.profiles import Profile
from firststory.text.phrases.reader import PhraseReader
from firststory.text.phrases.records import Report

FIRST_SENTENCES = 3
SHORTEST, LONGEST = 6, 45
"""Words of a sentence."""
READ_CHARACTERS = 1500
A_FORMAT, CAPITALS_FIRST, LATER = 0.6, 0.8, 0.2

_ENDS = regex.compile(
    r"(?:(?<=[\p{Ll}\p{N})%\"”][.!?])|(?<=[.!?][\"”]))(?<!\b(?:Mr|Dr|St|Jr|Sr|Lt|Ms|No|Gen|Gov|Sen|Rep|Sgt|Col|Mrs|Capt|Prof)\.)"
    r"\s+(?=[\p{Lu}\"“])|\n+|(?<=[。！？])"
)
_DATELINE = regex.compile(r"^\p{Lu}{3,}[\p{Lu}, ]*(?:\p{L}+ \d+\. ?)?(?:/\w+/\.?|\(\p{L}+\)|--?|[—–])\s*(?:[—–-]+\s*)?")
_LEANS = regex.compile(r"[\"'“‘]|(?:he|she|it|they|but|and|this|that|we|i|so)\b", regex.IGNORECASE)
"""Sentences that begin so lean on the one before."""
_IS_ENDED = regex.compile(r"[.!?…。！？।؟][\"'”’»)\]]*$")
"""What ends otherwise is a caption, a list or a text without sentences."""


def sentences(text: str, is_cut: bool = False) -> list[str]:
    """The sentences at the beginning of a text, without its dateline.

    Examples
    --------
    >>> sentences("MOSCOW, March 16. /TASS/. Mr. Smith said so. It was late.")
    ['Mr. Smith said so.', 'It was late.']
    """
    head = text[:READ_CHARACTERS].strip()
    found = [one.strip() for one in _ENDS.split(_DATELINE.sub("", head))]
    if is_cut or len(text.strip()) > READ_CHARACTERS:
        found = found[:-1]  # the last one may be cut
    return [one for one in found if one]


def telling_sentence(reader: PhraseReader, reports: Sequence[Report], profile: Profile | None = None) -> str:
    """The sentence, of the first three of each report of the burst's first day, that says most of what all of them say.

    It stands in one of the reports; nothing is made up. Empty where none has a whole sentence of 6 to 45 words.

    Examples
    --------
    >>> text = "A bridge in Genoa collapsed on Tuesday during a storm. It was raining."
    >>> telling_sentence(PhraseReader(), [Report("Bridge in Genoa collapses", text)])
    'A bridge in Genoa collapsed on Tuesday during a storm.'
    """
    profile = profile or Profile(reader, reports)
    best, best_worth = "", -1.0
    for report, phrases in zip(profile.reports, profile.phrases, strict=True):
        body = report.text.removeprefix(report.title).strip() or report.title
        names = [phrase.key for phrase in phrases if " " in phrase.key]
        for place, sentence in enumerate(sentences(body, report.is_cut)[:FIRST_SENTENCES]):
            if not (SHORTEST <= sentence.count(" ") + 1 <= LONGEST and _IS_ENDED.search(sentence)):
                continue
            words = profile.words(sentence)
            low = fold(sentence)
            form = A_FORMAT if _LEANS.match(sentence) or is_format(sentence) else 1.0
            form *= CAPITALS_FIRST if sentence.split()[0].isupper() or "Related:" in sentence else 1.0
            keys = words | {name for name in names if name in low}
            worth = form * (1.0 - LATER * place) * profile.worth(keys) / (8.0 + len(words)) ** 0.6
            if worth > best_worth:
                best, best_worth = sentence, worth
    return best
