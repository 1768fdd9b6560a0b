"""An alert as a card: what broke, how many sources, since when, why it is new."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import regex

from firststory.digest.words import MAX_NAME, MAX_TERM, quoted
from firststory.harmless import display_title, harmless
from firststory.records import Alert, Document
from firststory.serve.page.charts import strip
from firststory.serve.page.clock import span
from firststory.serve.page.line_names import line_names
from firststory.serve.page.numbers import in_words, listed, sentence
from firststory.store.arrival_reader import Brought
from firststory.store.store import Store

EVIDENCE = ((12.0, "very strong"), (9.0, "strong"), (6.5, "good"), (float("-inf"), "fair"))
"""Words for -log10 of the probability that chance explains an alert."""
MAX_MARKS = 3
_QUOTED = regex.compile("“([^”]+)”")
_FIGURE = r"(?:(?<![\w.])[$€£]?\d[\d.,]*%?\s+)?"
"""A figure before a phrase is part of it: 3.5 percent."""
_COUNTED = regex.compile(r"(\d+) (sources|different texts|texts)\b")


@dataclass(frozen=True, slots=True)
class Dot:
    """A source on the strip."""

    x: float
    source: str
    time: datetime


@dataclass(frozen=True, slots=True)
class Card:
    """All that the template needs."""

    alert: Alert
    title: tuple[tuple[str, bool], ...]
    """Pieces of the headline, and whether each is a key phrase."""
    why: str
    dots: tuple[Dot, ...]
    """The first report of each source, in the order of time; empty in a stream without times."""
    n: int
    of: str
    """Sources, or texts where one source is read alone."""
    within: str
    evidence: str
    chance: str
    storyline: str
    """Its title; empty where it has none, or where it says the same as the headline."""
    useful: bool | None
    """What was said of it."""

    @property
    def href(self) -> str:
        return f"/page/stories/{self.alert.story}" if self.alert.story else f"/?kind=all#{self.alert.id}"


def cards_of(store: Store, alerts: Sequence[Alert]) -> list[Card]:
    """Cards for some alerts; what they need is read at once."""
    brought = store.brought(list(dict.fromkeys(name for alert in alerts for name in alert.documents)))
    said = store.said_of([alert.headline.id for alert in alerts])
    lines = [store.storyline(name) for name in sorted({alert.storyline for alert in alerts if alert.storyline})]
    # A line of one story says no more than the headline does.
    titles = line_names(store, [line for line in lines if line is not None and line.n_stories > 1])
    return [card_of(alert, brought, said, titles) for alert in alerts]


def card_of(alert: Alert, brought: Mapping[str, Brought], said: Mapping[str, bool], titles: Mapping[str, str]) -> Card:
    headline = display_title(alert.headline)
    phrases = key_phrases(alert)
    dots = _dots(alert, brought)
    n, of = _proof(alert, len(dots))
    line = titles.get(alert.storyline or "", "")
    return Card(
        alert=alert,
        title=marked(headline, phrases),
        why=why_new(alert, phrases),
        dots=dots,
        n=n,
        of=of,
        within=span(alert.delay) if alert.delay else "",
        evidence=next(word for least, word in EVIDENCE if alert.score >= least) if alert.kind == "confirmed" else "",
        chance=f"By chance: less than once in 10^{int(alert.score)}",
        storyline="" if line.casefold() == headline.casefold() else line,
        useful=said.get(alert.headline.id),
    )


def _proof(alert: Alert, n_dots: int) -> tuple[int, str]:
    """How many tell it: as many as stand on the strip. Where only one source is read, texts count instead."""
    found = _COUNTED.search(alert.sentence)
    if found and "texts" in found[2]:
        n = int(found[1])
        return n, "text" if n == 1 else "texts"
    n = n_dots or max(len(alert.sources), 1)
    return n, "source" if n == 1 else "sources"


def _dots(alert: Alert, brought: Mapping[str, Brought]) -> tuple[Dot, ...]:
    """The first report of each source that told it; of each document where nobody is named.

    What a turn rests on may hold older reports of the same story: they are not what is new.
    """
    first: dict[str, Document] = {}
    begin = _time(alert.first)
    for name in alert.documents:
        if name in brought and brought[name].document.time is not None:
            document = brought[name].document
            if _time(document) < begin:
                continue
            source = document.source or name
            if source not in first or _time(document) < _time(first[source]):
                first[source] = document
    told = sorted(first.values(), key=_time)
    if len(told) < 2 or _time(told[0]) == _time(told[-1]):
        return ()
    places = strip([_time(document) for document in told])
    return tuple(
        Dot(x, harmless(one.source or display_title(one), MAX_NAME), one.time)
        for x, one in zip(places, told, strict=True)
        if one.time is not None
    )


def _time(document: Document) -> float:
    return document.time.timestamp() if document.time is not None else 0.0


def key_phrases(alert: Alert) -> list[str]:
    """Whole names and figures that say what is new; of a turn what the sources say now and did not before."""
    kinds = alert.kinds or ("other",) * len(alert.terms)
    new = new_phrases(alert) if alert.kind == "turn" else []
    telling = [
        term
        for term, kind in zip(alert.terms, kinds, strict=False)
        if not any(term in phrase for phrase in new)
        and (kind != "other" or " " in term or any(c.isdigit() or c.isupper() for c in term))
    ]
    return [*new, *telling] if alert.kind == "turn" else telling or list(alert.terms[:2])


def new_phrases(alert: Alert) -> list[str]:
    """What the sources of a turn say that was not said before; words that the headline has side by side are one."""
    words = _QUOTED.findall(alert.sentence)
    headline = display_title(alert.headline)
    found: list[str] = []
    for word in words:
        whole = f"{found[-1]} {word}" if found else ""
        match = regex.search(rf"(?<!\w){regex.escape(whole)}(?!\w)", headline, regex.IGNORECASE) if whole else None
        if match:
            found[-1] = match[0]
        else:
            found.append(word)
    return found


def marked(headline: str, phrases: Sequence[str]) -> tuple[tuple[str, bool], ...]:
    """The headline in pieces, with at most three key phrases; of a name the part that the headline has.

    Examples
    --------
    >>> marked("De Niro calls on people to vote", ["vote", "Robert De Niro"])
    (('De Niro', True), (' calls on people to ', False), ('vote', True))
    """
    spans: list[tuple[int, int]] = []
    for phrase in phrases:
        words = phrase.split()
        forms = [phrase, *(" ".join(words[n:]) for n in range(1, len(words)) if words[n][:1].isupper())]
        for form in forms:
            found = regex.search(rf"{_FIGURE}(?<!\w){regex.escape(form)}(?!\w)", headline, regex.IGNORECASE)
            if found and all(found.end() <= start or found.start() >= end for start, end in spans):
                spans.append(found.span())
                break
        if len(spans) == MAX_MARKS:
            break
    pieces, at = [], 0
    for start, end in sorted(spans):
        pieces += [(headline[at:start], False), (headline[start:end], True)]
        at = end
    pieces.append((headline[at:], False))
    return tuple(piece for piece in pieces if piece[0])


def why_new(alert: Alert, phrases: Sequence[str], *, says_when: bool = False) -> str:
    """One sentence: what a document says of it, or which words its sources share; in what time, where asked for."""
    if alert.summary:
        return quoted(alert)
    headline = display_title(alert.headline)
    words = [f"“{harmless(_with_figure(phrase, headline), MAX_TERM)}”" for phrase in phrases[:MAX_MARKS]]
    found = _COUNTED.search(alert.sentence)
    if not found or not words:
        return harmless(alert.sentence.partition("; first seen here")[0].rstrip(".") + ".", 300)
    n, what = in_words(int(found[1])), found[2].replace("different ", "")
    within = f" within {span(alert.delay)}" if alert.delay and says_when else ""
    if alert.kind == "turn":
        new = [f"“{harmless(phrase, MAX_TERM)}”" for phrase in new_phrases(alert)][:MAX_MARKS]
        if not new:
            return sentence(f"{n} {what} say the same{within}.")
        verb = "is" if len(new) == 1 else "are"
        return sentence(f"{listed(new)} {verb} new to the story: {n} {what}{within}.")
    return sentence(f"{n} {what} tell of {listed(words[:2])}{within}.")


def _with_figure(phrase: str, headline: str) -> str:
    """
    >>> _with_figure("percent rate", "U.S. Economy Grew At A 3.5 Percent Rate")
    '3.5 percent rate'
    """
    found = regex.search(rf"({_FIGURE}){regex.escape(phrase)}(?!\w)", headline, regex.IGNORECASE)
    return f"{found[1].strip()} {phrase}".strip() if found else phrase
