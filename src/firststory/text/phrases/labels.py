"""Labels of topics: three phrases that a topic's documents have and other documents have not."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import Any, Self

from firststory.arrays import Floats
from firststory.harmless import harmless
from firststory.kernels.phrases import layout as k
from firststory.kernels.phrases.lines import BINS, SHORT_WORD
from firststory.state import State
from firststory.text.phrases.alphabet import fold
from firststory.text.phrases.found import ReadDocuments
from firststory.text.phrases.reader import PhraseReader
from firststory.text.phrases.tables import slot_of
from firststory.text.phrases.variants import surface

OF_A_TOPIC, OF_ALL = 2_000, 40_000
"""Phrases that are remembered of each topic, and of all documents."""
TOPICS_OF_A_DOCUMENT = 2
SEVERAL_WORDS = 1.3
LEAST_LIFT = 1.5
SAME_BEGINNING = 5
"""Letters by which two phrases of a label must not agree."""
STOP_COUNT = 20.0
STOP_ENTROPY, STOP_ENTROPY_OTHER = 2.0, 3.0
STOP_UPPER = 0.3


class TopicLabels:
    """A fading table of the phrases of each topic's documents.

    Parameters
    ----------
    reader : PhraseReader
        The reader that learns the stream: its clock is the one by which phrases fade.
    n_topics : int
    """

    def __init__(self, reader: PhraseReader, n_topics: int) -> None:
        self.reader = reader
        self._topics: list[dict[str, float]] = [{} for _ in range(n_topics)]
        self._masses = [0.0] * n_topics
        self._all: dict[str, float] = {}
        self._n_documents = 0

    def learn(self, read: ReadDocuments, shares: Floats) -> None:
        """Count the phrases of documents, each document with its share in each topic; only its two largest count.

        `read` is what the reader's `learn` gave for these documents, `shares` has a row for each.
        """
        for number in range(len(read)):
            self._n_documents += 1
            unit = 2.0 ** (self._n_documents / self.reader.half_life)
            if unit > 2.0**30:
                self._rescale(unit)
                unit = 1.0
            keys = _keys(read, number)
            for key in keys:
                self._all[key] = self._all.get(key, 0.0) + unit
            row = shares[number]
            for topic in row.argsort(kind="stable")[::-1][:TOPICS_OF_A_DOCUMENT].tolist():
                share = float(row[topic]) * unit
                if share <= 0.0:
                    continue
                self._masses[topic] += share
                table = self._topics[topic]
                for key in keys:
                    table[key] = table.get(key, 0.0) + share
                if len(table) > OF_A_TOPIC:
                    self._topics[topic] = _heaviest(table, 3 * OF_A_TOPIC // 4)
            if len(self._all) > OF_ALL:
                self._all = _heaviest(self._all, 3 * OF_ALL // 4)

    def label(self, topic: int, n: int = 3) -> tuple[str, ...]:
        """The phrases that name a topic: how much of it they have, times the logarithm of how much more than elsewhere.

        No stop word of any language (see `is_stop`), no two phrases that begin alike. Empty while nothing was learnt.
        """
        table, total = self._topics[topic], sum(self._masses)
        if not table or self._masses[topic] <= 0.0:
            return ()
        unit = 2.0 ** (self._n_documents / self.reader.half_life)
        part = self._masses[topic] / total

        def worth(key: str) -> float:
            lift = (table[key] + 0.1 * unit) / (self._all.get(key, 0.0) + unit) / part
            return table[key] * log(lift) * (SEVERAL_WORDS if " " in key else 1.0) if lift > LEAST_LIFT else 0.0

        chosen: list[str] = []
        for key in sorted(table, key=lambda key: (-worth(key), key)):
            words = key.split()
            begins = {word[:SAME_BEGINNING] for word in words}
            if worth(key) <= 0.0 or len(chosen) == n:
                break
            if all(map(self.is_stop, words)) or any(begins & {w[:SAME_BEGINNING] for w in o.split()} for o in chosen):
                continue
            chosen.append(key)
        return tuple(harmless(self.reader.usual_text(key) or key, 60) for key in chosen)

    def is_stop(self, word: str) -> bool:
        """A stop word of any language: short, mostly in lower case, beside ever other words on both sides."""
        if len(word) < 3 or self.reader.is_stop_word(word):
            return True
        tables, number = self.reader.tables, self.reader.number_of(word)
        slot = slot_of(tables.neighbours, number)
        if len(word) > SHORT_WORD or slot < 0:
            return False
        counts = tables.neighbours.counts[slot] / tables.clock[k.UNIT_NOW]
        if counts[0] < STOP_COUNT:
            return False
        sides = sorted(_entropy(side) for side in (counts[1 : 1 + BINS], counts[1 + BINS :]))
        at = slot_of(tables.words, number)
        upper, lower = tables.words.counts[at, [k.IN_UPPER, k.IN_LOWER]].tolist() if at >= 0 else (0.0, 0.0)
        is_lower = upper <= STOP_UPPER * (upper + lower)
        return bool(is_lower and sides[0] >= STOP_ENTROPY and sides[1] >= STOP_ENTROPY_OTHER)

    def _rescale(self, unit: float) -> None:
        for table in (*self._topics, self._all):
            for key in table:
                table[key] /= unit
        self._masses = [mass / unit for mass in self._masses]
        self._n_documents = 0

    def get_state(self) -> State:
        """The tables; the reader has a state of its own."""
        return {
            "topics": [list(table.items()) for table in self._topics],
            "masses": self._masses,
            "all": list(self._all.items()),
            "n_documents": self._n_documents,
        }

    @classmethod
    def from_state(cls, state: State, reader: PhraseReader) -> Self:
        """Undo `get_state`; `reader` is the one that learns on."""
        made = cls(reader, len(state["topics"]))
        made._topics = [_table(pairs) for pairs in state["topics"]]
        made._masses = [float(mass) for mass in state["masses"]]
        made._all = _table(state["all"])
        made._n_documents = int(state["n_documents"])
        return made


def _table(pairs: Sequence[Sequence[Any]]) -> dict[str, float]:
    return {str(key): float(mass) for key, mass in pairs}


def _heaviest(table: dict[str, float], n: int) -> dict[str, float]:
    least = sorted(table.values(), reverse=True)[n - 1]
    return {key: mass for key, mass in table.items() if mass >= least}


def _keys(read: ReadDocuments, number: int) -> list[str]:
    """The phrases of a title and lead, and the words of those of several common words, each once."""
    text = read.texts[number]
    keys: dict[str, None] = {}
    for row in read.rows(number):
        if row["zone"] == k.BODY or row["form"] == k.FIGURE:
            continue
        key = fold(surface(text[row["start"] : row["end"]], int(row["form"])))
        keys[key] = None
        if row["form"] == k.WORDS and " " in key:
            keys.update(dict.fromkeys(key.split()))
    return list(keys)


def _entropy(counts: Any) -> float:
    total = float(counts.sum())
    return sum(-c / total * log(c / total) for c in counts.tolist() if c > 0.0) if total else 0.0
