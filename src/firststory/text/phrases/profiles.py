"""What the documents of a burst have in common: the profile that sentences are measured by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from math import log
from typing import NamedTuple

import regex

from firststory.kernels.phrases import layout as k
from firststory.records import Document
from firststory.text.phrases.alphabet import fold_phrase
from firststory.text.phrases.reader import PhraseReader
from firststory.text.phrases.records import Report
from firststory.text.phrases.variants import Group, document_groups

DAY_SECONDS = 86_400.0
MOST_REPORTS = 100
"""Reports of a burst that are looked at; of more, every so many-th."""
FEW = 3
"""Of fewer reports everything counts, of more only what a tenth of them has."""

WORD = regex.compile(r"[\p{L}\p{N}][\p{L}\p{N}\p{M}]*(?:['’\-&.][\p{L}\p{N}]+)*")


class Profile(NamedTuple):
    """The phrases and words of a burst's first day, each by its share of the reports."""

    names: list[list[str]]
    """Of each report the keys of its phrases of several words."""
    shares: dict[str, float]
    """Of phrases and words that tell of the burst, the share of the reports that have them."""


def profiles(reader: PhraseReader, early: Sequence[Sequence[Report]], words: WordKeys) -> list[Profile]:
    """The profiles of some bursts, by the reports of their first days. All of them are read at one go."""
    read = reader.read([Document(id="", text=one.text, title=one.title) for own in early for one in own])
    groups = document_groups(reader, read, range(len(read)))
    spoken = words.of_each([_beginning(report) for own in early for report in own])
    ends = list(accumulate(map(len, early), initial=0))
    return [_profile(b - a, groups[a:b], spoken[a:b]) for a, b in pairwise(ends)]


def _profile(n: int, groups: Sequence[Sequence[Group]], words: Sequence[set[str]]) -> Profile:
    """That of n reports."""
    count: Counter[str] = Counter()
    for own, said in zip(groups, words, strict=True):
        count.update(said.union([group.key for group in own if group.zone != k.BODY]))
    least = max(1.0, 0.1 * n) if n >= FEW else 0.0
    names = [[group.key for group in own if " " in group.key] for own in groups]
    return Profile(names, {key: times / n for key, times in count.items() if times > least})


def _beginning(report: Report) -> str:
    return f"{report.title} {report.text[: len(report.title) + k.LEAD_CHARACTERS]}"


class WordKeys:
    """The keys of the words of texts, without stop words. Each word is looked up once, however many texts have it."""

    def __init__(self, reader: PhraseReader) -> None:
        self._reader = reader
        self._key: dict[str, str] = {}
        """Empty for stop words."""

    def of(self, text: str) -> set[str]:
        """The keys of the words of a text that are no stop words."""
        return self.of_each([text])[0]

    def of_each(self, texts: Sequence[str]) -> list[set[str]]:
        """`of` of many at one go."""
        split = [WORD.findall(text) for text in texts]
        key = self._key
        if new := [word for word in dict.fromkeys(chain.from_iterable(split)) if word not in key]:
            keys, is_stop = list(map(fold_phrase, new)), self._reader.is_stop_number
            numbers = self._reader.numbers_of(keys)
            key.update((word, "" if is_stop(n) else own) for word, own, n in zip(new, keys, numbers, strict=True))
        return [{own for word in words if (own := key[word])} for words in split]


def rarities(reader: PhraseReader, keys: Sequence[str]) -> list[float]:
    """How rare phrases and words are in the stream."""
    of_phrases, of_words = reader.documents_with_each(keys), reader.documents_with_each_word(keys)
    n = 1.0 + reader.n_documents_
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
