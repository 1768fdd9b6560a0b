"""What the documents of a burst have in common: the profile that titles and sentences are measured by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

import regex

from firststory.kernels.phrases import layout as k
from firststory.records import Document
from firststory.text.phrases.alphabet import fold_phrase
from firststory.text.phrases.reader import PhraseReader
from firststory.text.phrases.records import Report
from firststory.text.phrases.variants import document_phrases

DAY_SECONDS = 86_400.0
MOST_REPORTS = 100
"""Reports of a burst that are looked at; of more, every so many-th."""
FEW = 3
"""Of fewer reports everything counts, of more only what a tenth of them has."""

WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['’\-&.][\p{L}\p{N}]+)*")


class Profile:
    """The phrases and words of a burst's first day, each by its share of the reports times its rarity in the stream.

    Parameters
    ----------
    reader : PhraseReader
    reports : sequence of Report
        Documents of the burst, in any order.
    """

    def __init__(self, reader: PhraseReader, reports: Sequence[Report]) -> None:
        self.reader = reader
        self.reports = first_day(reports)
        read = reader.read([Document(id="", text=report.text, title=report.title) for report in self.reports])
        self.phrases = document_phrases(reader, read, range(len(read)))
        share: Counter[str] = Counter()
        for report, phrases in zip(self.reports, self.phrases, strict=True):
            lead = report.text[: len(report.title) + k.LEAD_CHARACTERS]
            share.update(
                {phrase.key for phrase in phrases if phrase.zone != "body"} | self.words(f"{report.title} {lead}")
            )
        n = len(self.reports)
        least = max(1.0, 0.1 * n) if n >= FEW else 0.0
        telling = {key: count for key, count in share.items() if count > least}
        rarity = self._rarity(list(telling))
        self._worth = {key: count / n * rare for (key, count), rare in zip(telling.items(), rarity, strict=True)}

    def worth(self, keys: set[str]) -> float:
        """What some phrases and words tell of the burst."""
        return sum(self._worth.get(key, 0.0) for key in sorted(keys))

    def words(self, text: str) -> set[str]:
        """The words of a text that are no stop words."""
        words = list(dict.fromkeys(map(fold_phrase, WORD.findall(text))))
        is_stop = self.reader.is_stop_number
        return {word for word, n in zip(words, self.reader.numbers_of(words), strict=True) if word and not is_stop(n)}

    def _rarity(self, keys: Sequence[str]) -> list[float]:
        of_phrases, of_words = self.reader.documents_with_each(keys), self.reader.documents_with_each_word(keys)
        n = 1.0 + self.reader.n_documents_
        return [max(log(n / (1.0 + max(seen))), 0.0) for seen in zip(of_phrases, of_words, strict=True)]


def first_day(reports: Sequence[Report]) -> list[Report]:
    """The first day of a burst: from when on, within a day, half as many follow as on its busiest day."""
    ordered = sorted(reports, key=lambda report: report.time)
    times = [report.time for report in ordered]
    after, end = [], 0
    for begin, time in enumerate(times):
        while end < len(times) and times[end] < time + DAY_SECONDS:
            end += 1
        after.append(end - begin)
    begin = next((i for i, n in enumerate(after) if 2 * n >= max(after)), 0)
    early = ordered[begin : begin + after[begin]] if ordered else []
    return early[:: max(1, -(-len(early) // MOST_REPORTS))]
