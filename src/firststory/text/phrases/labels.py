"""Labels of topics: three phrases that a topic's documents have and other documents have not."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nsmallest
from itertools import chain
from math import log
from typing import Any, NamedTuple, Self

from firststory.harmless import harmless
from firststory.headlines import is_format
from firststory.kernels.phrases import layout as k
from firststory.kernels.phrases.lines import BINS, SHORT_WORD
from firststory.state import State
from firststory.text.phrases.alphabet import fold_phrase, key_numbers
from firststory.text.phrases.found import ReadDocuments
from firststory.text.phrases.reader import PhraseReader
from firststory.text.phrases.tables import name_text, slot_of
from firststory.text.phrases.variants import surface
from firststory.text.shown import hidden_words

WINDOW = 1_000
"""Documents whose phrases are remembered."""
SEVERAL_WORDS = 1.3
LEAST_LIFT = 1.5
USUAL, USUAL_SHARE = 20.0, 0.05
"""Other documents that are added in mind, and the share of them that has any phrase: a topic that is nearly all of the
window is compared with these."""
LEAST_DOCUMENTS = 2
"""Of a topic that must have a phrase of its label."""
CANDIDATES = 40
"""Phrases of a topic that are looked at, the heaviest first."""
SPOKEN_SHARE = 0.02
"""Of the documents that must be in a language for its stop words to be hidden."""
SAME_BEGINNING = 5
"""Letters by which two phrases of a label must not agree."""
STOP_COUNT = 20.0
STOP_ENTROPY, STOP_ENTROPY_OTHER = 2.0, 3.0
STOP_UPPER = 0.3

Key = int | str
"""A phrase by its number, a word of a phrase as it reads in small letters."""


class Labelled(NamedTuple):
    """A phrase of a label, and the share of the topic's documents that have it."""

    text: str
    share: float


class TopicLabels:
    """The phrases of the latest documents, by which any group of them can be named.

    Parameters
    ----------
    window : int
        Documents that are remembered.
    """

    def __init__(self, window: int = WINDOW) -> None:
        self.window = int(window)
        self._documents: deque[dict[Key, str]] = deque(maxlen=self.window)
        """For each document its phrases as they read in it."""
        self._languages: deque[str] = deque(maxlen=self.window)

    def __len__(self) -> int:
        return len(self._documents)

    def learn(self, read: ReadDocuments, places: Sequence[int], languages: Sequence[str]) -> None:
        """Remember the phrases of documents.

        `read` is what the reader's `learn` gave, `languages` that of each document there, `places` which of them.
        """
        found = _phrases(read)
        self._documents.extend(found[place] for place in places)
        self._languages.extend(languages[place] for place in places)

    def labels(
        self, reader: PhraseReader, groups: Iterable[Sequence[int]], n: int = 3
    ) -> Iterator[tuple[Labelled, ...]]:
        """A label for each of some groups of documents, places in the window, 0 the oldest."""
        chosen = [[self._documents[place] for place in places] for places in groups]
        inside = [_repeated(phrases) for phrases in chosen]
        wanted = set(chain.from_iterable(inside))
        counts = Counter(chain.from_iterable(map(wanted.intersection, self._documents)))
        hidden = hidden_words(self._spoken())
        for some, repeated in zip(chosen, inside, strict=True):
            yield self._label(reader, some, repeated, n, counts, hidden)

    def _label(
        self,
        reader: PhraseReader,
        chosen: Sequence[dict[Key, str]],
        inside: Mapping[Key, int],
        n: int,
        counts: Counter[Key],
        hidden: frozenset[str],
    ) -> tuple[Labelled, ...]:
        """The phrases that name some documents: number of those that have one, times ln of its lift.

        No stop word begins or ends a phrase, be it of the languages
        of the documents or of one that nobody has a list for (see `is_stop`); no format
        ("Watch live") is one, and no two begin alike. Empty where nothing names them.
        """
        n_others = len(self._documents) - len(chosen)

        texts: dict[Key, str] = {}
        for phrases in chosen:
            texts.update(phrases)

        worths: dict[Key, float] = {}
        for key, here in inside.items():
            elsewhere = (counts[key] - here + USUAL_SHARE * USUAL) / (n_others + USUAL)
            lift = here / len(chosen) / elsewhere
            if lift > LEAST_LIFT:
                worths[key] = here * log(lift) * (SEVERAL_WORDS if " " in texts[key] else 1.0)
        heavy = nsmallest(CANDIDATES, worths, key=lambda key: (-worths[key], str(key)))
        folded = {key: fold_phrase(texts[key]).split() for key in heavy}
        words = list(dict.fromkeys(chain.from_iterable(folded.values())))
        numbers = dict(zip(words, key_numbers(words), strict=True))
        label: list[Labelled] = []
        begun: set[str] = set()
        for key in heavy:
            if len(label) == n:
                break
            begins = {word[:SAME_BEGINNING] for word in folded[key]}
            if begins & begun or not _may_be_shown(reader, texts[key], folded[key], numbers, hidden):
                continue
            begun |= begins
            label.append(Labelled(harmless(_usual_text(reader, key, chosen), 60), inside[key] / len(chosen)))
        return tuple(label)

    def _spoken(self) -> tuple[str, ...]:
        """The languages of the stream, without those that a few documents were mistaken for."""
        counts = Counter(self._languages)
        return tuple(sorted(code for code, n in counts.items() if n >= SPOKEN_SHARE * len(self._languages)))

    def get_state(self) -> State:
        """The phrases of the documents that are remembered."""
        return {
            "window": self.window,
            "documents": [list(phrases.items()) for phrases in self._documents],
            "languages": list(self._languages),
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Undo `get_state`."""
        made = cls(state["window"])
        made._documents.extend({key: str(text) for key, text in pairs} for pairs in state["documents"])
        made._languages.extend(state["languages"])
        return made


def _may_be_shown(
    reader: PhraseReader, text: str, words: Sequence[str], numbers: Mapping[str, int], hidden: frozenset[str]
) -> bool:
    read = text.lower().split()
    if not words or not read or not hidden.isdisjoint((words[0], words[-1], read[0], read[-1])):
        return False
    if all(map(str.isdecimal, words)):
        return False
    ends = words[:1] if words[0] == words[-1] else (words[0], words[-1])
    return not (any(is_stop(reader, word, numbers[word]) for word in ends) or is_format(text))


def is_stop(reader: PhraseReader, word: str, number: int | None = None) -> bool:
    """A stop word of any language: short, mostly in lower case, beside ever other words on both sides.

    `number` is that of the word, where it is known already.
    """
    number = reader.number_of(word) if number is None else int(number)
    if len(word) < 3 or reader.is_stop_number(number):
        return True
    tables = reader.tables
    slot = slot_of(tables.neighbours, number)
    if len(word) > SHORT_WORD or slot < 0:
        return False
    counts = tables.neighbours.counts[slot] / tables.clock[k.UNIT_NOW]
    if counts[0] < STOP_COUNT:
        return False
    at = slot_of(tables.words, number)
    upper, lower = tables.words.counts[at, [k.IN_UPPER, k.IN_LOWER]].tolist() if at >= 0 else (0.0, 0.0)
    if upper > STOP_UPPER * (upper + lower):
        return False
    sides = sorted(_entropy(side) for side in (counts[1 : 1 + BINS], counts[1 + BINS :]))
    return sides[0] >= STOP_ENTROPY and sides[1] >= STOP_ENTROPY_OTHER


def _phrases(read: ReadDocuments) -> list[dict[Key, str]]:
    """The phrases of title and lead of each document, and the words of those of several common words, each once."""
    found = read.found[(read.found["zone"] != k.BODY) & (read.found["form"] != k.FIGURE)]
    columns = [found[name].tolist() for name in ("document", "key", "start", "end", "form")]
    documents: list[dict[Key, str]] = [{} for _ in range(len(read))]
    words_form, tag_form, texts = k.WORDS, k.TAG, read.texts
    for number, key, start, end, form in zip(*columns, strict=True):
        phrases, text = documents[number], texts[number][start:end]
        if form == words_form:
            if " " in text:
                for word in text.split():
                    phrases[word.lower()] = word
        elif form == tag_form:
            text = surface(text, form)
        phrases[key] = text
    return documents


def _repeated(documents: Sequence[dict[Key, str]]) -> dict[Key, int]:
    """Phrases that several of the documents have, and how many."""
    counts = Counter(chain.from_iterable(documents))
    return {key: n for key, n in counts.items() if n >= LEAST_DOCUMENTS}


def _usual_text(reader: PhraseReader, key: Key, documents: Sequence[dict[Key, str]]) -> str:
    """How a phrase mostly reads: in the stream where it is a name, otherwise in the documents."""
    name = name_text(reader.tables, key) if isinstance(key, int) else ""
    if name:
        return name
    seen = Counter([phrases[key] for phrases in documents if key in phrases])
    return min(seen, key=lambda one: (-seen[one], one))


def _entropy(counts: Any) -> float:
    total = float(counts.sum())
    return sum(-c / total * log(c / total) for c in counts.tolist() if c > 0.0) if total else 0.0
