"""What an alert says: the phrases that name the event, and a sentence of one of its documents that tells it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from firststory.alerts.events.document import KEPT_CHARACTERS, SlimDocument
from firststory.harmless import display_title, harmless
from firststory.pipeline.titles import MAX_TITLE_CHARACTERS
from firststory.records import Alert, TermKind
from firststory.text.phrases.alphabet import fold
from firststory.text.phrases.evidence import choose_weighed
from firststory.text.phrases.reader import PhraseReader
from firststory.text.phrases.records import Phrase, Report
from firststory.text.phrases.sentences import telling_sentences
from firststory.text.phrases.variants import document_phrases

SUMMARY_CHARACTERS = 300


class Told(NamedTuple):
    """What an alert says, under the names that it has there."""

    terms: tuple[str, ...]
    kinds: tuple[TermKind, ...]
    summary: str


def tell(reader: PhraseReader, alerts: Sequence[tuple[Alert, Sequence[SlimDocument]]]) -> list[Told]:
    """The phrases and summaries of alerts; beside each the documents that it rests on."""
    if not alerts:
        return []
    read = reader.read([alert.headline for alert, _ in alerts])
    chosen = choose_weighed(reader, document_phrases(reader, read, range(len(alerts))))
    named = [_named(alert, [phrase for phrase, _ in own]) for (alert, _), own in zip(alerts, chosen, strict=True)]
    return [
        Told(tuple([term for term, _ in own]), tuple([kind for _, kind in own]), summary)
        for own, summary in zip(named, _summaries(reader, alerts), strict=True)
    ]


def _named(alert: Alert, phrases: Sequence[Phrase]) -> list[tuple[str, TermKind]]:
    """The phrases of the headline and what each is; of a turn first what turned it, unless a phrase has it."""
    told = {word for phrase in phrases for word in phrase.key.split()}
    alone: list[tuple[str, TermKind]] = [
        (term, "other") for term in alert.terms if not told.issuperset(fold(term).split())
    ]
    return [*alone, *((phrase.text, phrase.kind) for phrase in phrases)]


def _summaries(reader: PhraseReader, alerts: Sequence[tuple[Alert, Sequence[SlimDocument]]]) -> list[str]:
    # A first report stands alone: nothing says yet which of its sentences matters.
    bursts = [
        [] if alert.kind == "first_seen" else [report for report in map(_report, documents) if report.text]
        for alert, documents in alerts
    ]
    told = iter(telling_sentences(reader, [reports for reports in bursts if reports]))
    return [_summary(alert, next(told)) if reports else "" for (alert, _), reports in zip(alerts, bursts, strict=True)]


def _summary(alert: Alert, sentence: str) -> str:
    is_title = fold(sentence).strip(" .!") == fold(display_title(alert.headline)).strip(" .!")
    return "" if is_title else harmless(sentence, SUMMARY_CHARACTERS)


def _report(document: SlimDocument) -> Report:
    """A document without a text besides its title, or first line, has no sentence to tell."""
    text = document.text
    title = document.title or text[: MAX_TITLE_CHARACTERS + 1].partition("\n")[0]
    return Report(title, text.removeprefix(title).strip(), document.time or 0.0, is_cut=len(text) >= KEPT_CHARACTERS)
