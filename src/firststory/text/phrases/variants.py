"""The phrases of a document with their variants brought together: Ginsburg is Ruth Bader Ginsburg."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import regex

from firststory.harmless import harmless
from firststory.kernels.phrases import layout as k
from firststory.text.phrases.alphabet import fold_phrase, note_key_numbers
from firststory.text.phrases.found import ReadDocuments
from firststory.text.phrases.kinds import kind_of
from firststory.text.phrases.records import FORMS, ZONES, Kind, Phrase
from firststory.text.phrases.tables import count_of, name_text, slot_of

if TYPE_CHECKING:
    from firststory.text.phrases.reader import PhraseReader

LONGEST_TEXT = 60
REPEATED = 3
"""Times that the body must have what neither title nor lead has."""
SHORT_FORM = 5.0
"""A name so many times as frequent as the full name stays as it is: Trump stays Trump."""
HOLDER_SHARE, HOLDER_LEAST = 0.6, 3.0
"""Of the names that end in a word, by how much the one that is meant must lead (0.6: it has four fifths), at least."""

_PARTS = regex.compile(r"\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{N}+")


@dataclass(slots=True)
class Group:
    """All occurrences of a phrase in a document."""

    number: int
    text: str
    key: str
    start: int
    end: int
    form: int
    zone: int
    style: int
    count: int = 0
    votes: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])


def document_phrases(reader: PhraseReader, read: ReadDocuments, number: int) -> list[Phrase]:
    """The phrases of a document, in the order of its text."""
    tables, groups = reader.tables, _groups(read, number)
    whole = _full_names(reader, groups)
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
            into.votes = [a + b for a, b in zip(into.votes, group.votes, strict=True)]
        if to in groups:  # the full name reads as in the document
            into.text, into.key, into.style, into.form = (
                groups[to].text, groups[to].key, groups[to].style, groups[to].form)  # fmt: skip
        elif to != key:
            into.text = name_text(tables, to)
            into.key, into.style = fold_phrase(into.text), k.SENTENCE_CASE
    shift = read.shifts[number]
    note_key_numbers(word for group in merged.values() if group.form == k.WORDS for word in group.text.split(" "))
    found = []
    for to, group in merged.items():
        if group.zone == k.BODY and (group.count < REPEATED or group.form not in (k.NAME, k.WORDS)):
            continue
        text = group.text
        if group.form == k.NAME and text.isupper():
            text = _usual(name_text(tables, to), text)
        elif group.form == k.WORDS:
            text = _lowered(reader, text, group.style)
        kind: Kind = "other"
        if group.form == k.NAME:
            kind = kind_of(tables, to, group.votes, group.count)
        inside = group.start >= shift
        found.append(
            Phrase(
                harmless(text, LONGEST_TEXT),
                group.key,
                group.start - shift if inside else -1,
                group.end - shift if inside else -1,
                FORMS[group.form],
                kind,
                ZONES[group.zone],
                group.count,
            )
        )
    return [phrase for phrase in found if phrase.text and phrase.key]


def _usual(usual: str, text: str) -> str:
    """How a name mostly reads, where this document has it in capitals only."""
    return usual if usual and text.isupper() and len(text) > 3 and not usual.isupper() else text


def _lowered(reader: PhraseReader, text: str, style: int) -> str:
    """Common words without the capitals of a title or of the beginning of a sentence; unknown words as they read."""
    words = text.split(" ")
    for n, word in enumerate(words):
        if word[:1].isupper() and (n == 0 or style != k.SENTENCE_CASE) and reader.is_mostly_lower(word):
            words[n] = word.lower()
    return " ".join(words)


def _groups(read: ReadDocuments, number: int) -> dict[int, Group]:
    text, rows = read.texts[number], read.rows(number)
    counts = Counter(row[0] for row in rows)
    groups: dict[int, Group] = {}
    for key, _, _, start, end, *votes, form, zone, style, _ in rows:
        if zone == k.BODY and form != k.NAME and counts[key] < REPEATED:
            continue
        group = groups.get(key)
        if group is None:
            written = surface(text[start:end], form)
            groups[key] = group = Group(key, written, fold_phrase(written), start, end, form, zone, style)
        elif form == k.NAME and group.form != k.NAME:  # a hashtag, or words that turn out to be a name
            group.form, group.style, group.text = form, style, text[start:end]
        group.count += 1
        if form == k.NAME:
            group.votes = [a + b for a, b in zip(group.votes, votes, strict=True)]
    return groups


def surface(text: str, form: int) -> str:
    """How a phrase reads; hashtags are split into their words."""
    return " ".join(_PARTS.findall(text)) or text if form == k.TAG else text


def _full_names(reader: PhraseReader, groups: dict[int, Group]) -> dict[int, int]:
    """Short name -> full name: the longer name of the document, else the person that the stream means by it."""
    tables = reader.tables
    names = {key: group.key for key, group in groups.items() if group.form == k.NAME and group.key}
    shared = Counter(word for name in names.values() for word in {name.split()[0], name.split()[-1]})
    whole: dict[int, int] = {}
    for key, name in names.items():
        is_single = " " not in name
        seen = count_of(tables, tables.names, key, k.NAME_DOCUMENTS)
        longer = []
        if shared[name.split()[0]] > 1 or shared[name.split()[-1]] > 1:
            longer = [
                other
                for other, full in names.items()
                if other != key
                and (full.endswith(" " + name) or full.startswith(name + " "))
                and seen <= SHORT_FORM * count_of(tables, tables.names, other, k.NAME_DOCUMENTS) + SHORT_FORM
                and (not is_single or kind_of(tables, other, groups[other].votes, groups[other].count) == "person")
            ]
        if longer:
            whole[key] = min(longer, key=lambda other: (len(names[other]), names[other]))
        elif is_single and len(name) > 3 and (holder := _meant(reader, key, seen)):
            whole[key] = holder
    for key, to in whole.items():  # a short name of a short name
        whole[key] = whole.get(to, to)
    return whole


def _meant(reader: PhraseReader, key: int, seen: float) -> int:
    """The person that the stream means by a surname, or 0."""
    tables = reader.tables
    slot = slot_of(tables.names, key)
    if slot < 0 or kind_of(tables, key) == "place":
        return 0
    unit = float(tables.clock[k.UNIT_NOW])
    lead, total = (float(tables.names.counts[slot, column]) / unit for column in (k.HOLDER_LEAD, k.HOLDERS))
    holder = int(tables.holders[slot])
    if lead < max(HOLDER_LEAST, HOLDER_SHARE * total) or reader.is_first_name(key):
        return 0
    if seen > SHORT_FORM * count_of(tables, tables.names, holder, k.NAME_DOCUMENTS) + SHORT_FORM:
        return 0
    return holder if kind_of(tables, holder) == "person" and name_text(tables, holder) else 0
