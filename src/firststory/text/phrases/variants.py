"""The phrases of a document with their variants brought together: Ginsburg is Ruth Bader Ginsburg."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import regex

from firststory.harmless import harmless
from firststory.kernels.phrases import layout as k
from firststory.text.phrases.alphabet import fold_phrase
from firststory.text.phrases.found import ReadDocuments
from firststory.text.phrases.known_names import KnownNames
from firststory.text.phrases.records import FORMS, ZONES, Kind, Phrase

if TYPE_CHECKING:
    from firststory.text.phrases.reader import PhraseReader

LONGEST_TEXT = 60
REPEATED = 3
"""Times that the body must have what neither title nor lead has."""
SHORT_FORM = 5.0
"""A name so many times as frequent as the full name stays as it is: Trump stays Trump."""
HOLDER_SHARE, HOLDER_LEAST = 0.6, 3.0
"""Of the names that end in a word, by how much the one that is meant must lead (0.6: it has four fifths), at least."""

Votes = tuple[float, float, float]
"""That a name is a person, a place, an organisation."""

_NO_VOTES = 0.0, 0.0, 0.0
_PARTS = regex.compile(r"\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{N}+")


class Group:
    """All occurrences of a phrase in a document."""

    __slots__ = ("count", "end", "form", "key", "start", "style", "text", "votes", "zone")

    def __init__(self, text: str, start: int, end: int, form: int, zone: int, style: int) -> None:
        self.text, self.key = text, fold_phrase(text)
        self.start, self.end = start, end
        self.form, self.zone, self.style = form, zone, style
        self.count = 0
        self.votes: Votes = _NO_VOTES


def document_phrases(reader: PhraseReader, read: ReadDocuments, numbers: Iterable[int]) -> list[list[Phrase]]:
    """The phrases of some of the documents that were read, those of each in the order of its text."""
    numbers = list(numbers)
    documents, names = _told(reader, read, numbers)
    small = _written_small(reader, documents)
    return [_phrases(groups, names, small, read.shifts[n]) for groups, n in zip(documents, numbers, strict=True)]


def document_groups(reader: PhraseReader, read: ReadDocuments, numbers: Iterable[int]) -> list[list[Group]]:
    """The same where nobody will read them: what each is called and where it stands."""
    documents, _ = _told(reader, read, list(numbers))
    return [list(groups.values()) for groups in documents]


def _told(
    reader: PhraseReader, read: ReadDocuments, numbers: Sequence[int]
) -> tuple[list[dict[int, Group]], KnownNames]:
    """Of each document its groups, with variants brought together; of its body only what it repeats."""
    grouped = [_groups(read, number) for number in numbers]
    names = KnownNames(
        reader.tables, (key for groups in grouped for key, group in groups.items() if group.form == k.NAME)
    )
    merged = (_merged(groups, _full_names(reader, names, groups), names) for groups in grouped)
    return [{key: group for key, group in groups.items() if _is_told(group)} for groups in merged], names


def _is_told(group: Group) -> bool:
    is_aside = group.zone == k.BODY and (group.count < REPEATED or group.form not in (k.NAME, k.WORDS))
    return bool(group.key) and not is_aside


def _merged(groups: dict[int, Group], whole: dict[int, int], names: KnownNames) -> dict[int, Group]:
    """The groups with those of short names taken into those of their full names."""
    if not whole:
        return groups
    merged: dict[int, Group] = {}
    for key, group in groups.items():
        to = whole.get(key, key)
        into = merged.get(to)
        if into is None:
            merged[to] = into = group
        else:
            if (group.zone, group.start) < (into.zone, into.start):
                into.start, into.end, into.zone = group.start, group.end, group.zone
            into.count += group.count
            into.votes = _sum(into.votes, group.votes)
        if to in groups:  # the full name reads as in the document
            into.text, into.key, into.style, into.form = (
                groups[to].text, groups[to].key, groups[to].style, groups[to].form)  # fmt: skip
        elif to != key:
            into.text = names.text(to)
            into.key, into.style = fold_phrase(into.text), k.SENTENCE_CASE
    return merged


def _phrases(groups: dict[int, Group], names: KnownNames, small: set[str], shift: int) -> list[Phrase]:
    found = []
    for to, group in groups.items():
        form, text = group.form, group.text
        kind: Kind = "other"
        if form == k.NAME:
            if text.isupper():
                text = _usual(names.text(to), text)
            kind = names.kind(to, group.votes, group.count)
        elif form == k.WORDS:
            text = _lowered(text, group.style, small)
        text = harmless(text, LONGEST_TEXT)
        if text:
            inside = group.start >= shift
            start, end = (group.start - shift, group.end - shift) if inside else (-1, -1)
            found.append(Phrase(text, group.key, start, end, FORMS[form], kind, ZONES[group.zone], group.count))
    return found


def _usual(usual: str, text: str) -> str:
    """How a name mostly reads, where this document has it in capitals only."""
    return usual if usual and text.isupper() and len(text) > 3 and not usual.isupper() else text


def _lowered(text: str, style: int, small: set[str]) -> str:
    """Common words without the capitals of a title or of the beginning of a sentence; unknown words as they read."""
    if small.isdisjoint(_capitals(text, style)):
        return text
    words = text.split(" ")
    last = 1 if style == k.SENTENCE_CASE else len(words)
    return " ".join([word.lower() if word in small else word for word in words[:last]] + words[last:])


def _capitals(text: str, style: int) -> list[str]:
    """The words with a capital that says nothing by itself."""
    if style == k.SENTENCE_CASE:
        return [text.partition(" ")[0]] if text[:1].isupper() else []
    return [] if text.islower() else [word for word in text.split(" ") if word[:1].isupper()]


def _written_small(reader: PhraseReader, documents: Sequence[dict[int, Group]]) -> set[str]:
    """Of all words that may lose their capital those that are mostly written small."""
    groups = (group for own in documents for group in own.values() if group.form == k.WORDS)
    return reader.mostly_lower(word for group in groups for word in _capitals(group.text, group.style))


def _groups(read: ReadDocuments, number: int) -> dict[int, Group]:
    text, rows = read.texts[number], read.rows(number)
    counts: Mapping[int, int] | None = None
    groups: dict[int, Group] = {}
    for key, _, _, start, end, person, place, organisation, form, zone, style, _ in rows:
        is_name = form == k.NAME
        if zone == k.BODY and not is_name:
            if counts is None:
                counts = Counter(row[0] for row in rows)
            if counts[key] < REPEATED:
                continue
        group = groups.get(key)
        if group is None:
            written = text[start:end] if form != k.TAG else surface(text[start:end], form)
            groups[key] = group = Group(written, start, end, form, zone, style)
        elif is_name and group.form != k.NAME:  # a hashtag, or words that turn out to be a name
            group.form, group.style, group.text = form, style, text[start:end]
        group.count += 1
        if is_name:
            group.votes = _sum(group.votes, (person, place, organisation))
    return groups


def _sum(votes: Votes, more: Votes) -> Votes:
    return votes[0] + more[0], votes[1] + more[1], votes[2] + more[2]


def surface(text: str, form: int) -> str:
    """How a phrase reads; hashtags are split into their words."""
    return " ".join(_PARTS.findall(text)) or text if form == k.TAG else text


def _full_names(reader: PhraseReader, known: KnownNames, groups: dict[int, Group]) -> dict[int, int]:
    """Short name -> full name: the longer name of the document, else the person that the stream means by it."""
    names = {key: group.key for key, group in groups.items() if group.form == k.NAME and group.key}
    ends = {key: {name.partition(" ")[0], name.rpartition(" ")[2]} for key, name in names.items()}
    every = [word for own in ends.values() for word in own]
    # Without a word at an end that two of them have, none is part of another.
    shared = Counter(every) if len(every) > len({*every}) else None
    whole: dict[int, int] = {}
    for key, name in names.items():
        is_single = " " not in name
        seen = known.counts(key)[k.NAME_DOCUMENTS]
        longer = []
        if shared and any(shared[word] > 1 for word in ends[key]):
            longer = [
                other
                for other, full in names.items()
                if other != key
                and (full.endswith(" " + name) or full.startswith(name + " "))
                and seen <= SHORT_FORM * known.counts(other)[k.NAME_DOCUMENTS] + SHORT_FORM
                and (not is_single or known.kind(other, groups[other].votes, groups[other].count) == "person")
            ]
        if longer:
            whole[key] = min(longer, key=lambda other: (len(names[other]), names[other]))
        elif is_single and len(name) > 3 and (holder := _meant(reader, known, key, seen)):
            whole[key] = holder
    for key, to in whole.items():  # a short name of a short name
        whole[key] = whole.get(to, to)
    return whole


def _meant(reader: PhraseReader, known: KnownNames, key: int, seen: float) -> int:
    """The person that the stream means by a surname, or 0."""
    counts, holder = known.counts(key), known.holder(key)
    if not known.is_known(key) or counts[k.HOLDER_LEAD] < max(HOLDER_LEAST, HOLDER_SHARE * counts[k.HOLDERS]):
        return 0
    if known.kind(key) == "place" or reader.is_first_name(key):
        return 0
    if seen > SHORT_FORM * known.counts(holder)[k.NAME_DOCUMENTS] + SHORT_FORM:
        return 0
    return holder if known.kind(holder) == "person" and known.text(holder) else 0
