"""The phrases of verdicts and the words of alerts: whole names, no stop words of any language, exact places."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from firststory.alerts.events.document import SlimDocument
from firststory.pipeline.build import build_core
from firststory.pipeline.telling import tell
from firststory.records import Alert, Batch, Document
from firststory.settings import Settings
from firststory.text.language import stop_words
from firststory.text.phrases import PhraseReader

START = datetime(2024, 5, 1, tzinfo=UTC)
TEXTS = {
    "en": "Mayor Jane Doe closes the bridge in Porto Alegre after 12 people die",
    "es": "El huracán María golpea la costa de Puerto Rico y deja 12 muertos en la isla",
    "de": "Das Hochwasser der Elbe hat in Dresden Tausende Häuser und eine Brücke beschädigt",
    "fr": "La tempête Xynthia a frappé les côtes de la Vendée et fait douze morts dans la nuit",
    "th": "แผ่นดินไหวในประเทศไทย",
    "zh": "上海昨天发生大火，十二人死亡",
}


def evidence(text, title=None, **settings):
    core = build_core(Settings(budget="100%", topics="none", **settings))
    (verdict,) = core.step(Batch(0, (Document("1", text, title=title),))).verdicts
    return verdict


@pytest.mark.parametrize("language", TEXTS)
def test_what_is_shown_stands_in_the_text_and_is_no_stop_word(language):
    text = TEXTS[language]
    verdict = evidence(text)
    assert verdict.terms
    for term in verdict.terms:
        assert text[term.start : term.end].casefold() == term.text.casefold()
        words = term.text.casefold().split()
        assert words[0] not in stop_words(language) and words[-1] not in stop_words(language)


def test_names_and_figures_are_whole():
    shown = [term.text for term in evidence(TEXTS["en"]).terms]
    assert {"Jane Doe", "Porto Alegre", "12 people"} <= set(shown)
    assert {term.text: term.kind for term in evidence(TEXTS["en"]).terms}["Jane Doe"] == "person"
    assert sum(term.weight for term in evidence(TEXTS["en"]).terms) == pytest.approx(1.0, abs=1e-3)


def test_a_phrase_of_the_title_is_found_in_the_text():
    text = "It rained for days. Then Porto Alegre was flooded."
    (place,) = [term for term in evidence(text, title="Flood in Porto Alegre").terms if term.text == "Porto Alegre"]
    assert text[place.start : place.end] == "Porto Alegre"


def an_alert(kind, headline, terms=()):
    return Alert("a1", kind, headline, headline, START, timedelta(0), ("1",), (), terms, "s1", None, 3.0, "Why.")


def test_an_alert_is_told_by_a_sentence_of_its_documents_and_phrases_of_its_headline():
    texts = [
        "A bridge in Genoa collapsed on Tuesday during a storm. It was raining.",
        "The bridge in Genoa collapsed at noon, killing 35 people on the motorway below. He wept.",
    ]
    titles = ["Bridge in Genoa collapses", "Genoa bridge falls, 35 people dead"]
    documents = [
        Document(str(n), text, START, title) for n, (text, title) in enumerate(zip(texts, titles, strict=True))
    ]
    reader = PhraseReader()
    reader.learn(documents)
    alerts = [an_alert("confirmed", documents[1]), an_alert("turn", documents[1], ("people", "arrested"))]
    kept = [SlimDocument.of(document) for document in documents]
    told, turned = tell(reader, [(alert, kept) for alert in alerts])
    assert told.summary in {
        sentence.strip() + "." for text in texts for sentence in text.split(".") if "Genoa" in sentence
    }
    assert {"Genoa", "35 people"} <= set(told.terms) and len(told.kinds) == len(told.terms)
    assert turned.terms[0] == "arrested" and "people" not in turned.terms, "a phrase has it already"


def test_a_headline_alone_has_no_summary():
    documents = [Document("1", "Bridge in Genoa collapses, dozens feared dead in the storm", START)]
    (told,) = tell(PhraseReader(), [(an_alert("confirmed", documents[0]), [SlimDocument.of(documents[0])])])
    assert told.summary == ""


def test_alerts_told_together_are_told_as_each_by_itself():
    titles = ["Bridge in Genoa collapses", "Storm closes Porto Alegre airport", "35 people dead in Genoa", "??!"]
    documents = [Document(str(n), f"{title}\nIt was {title} on Tuesday.", START) for n, title in enumerate(titles)]
    reader = PhraseReader()
    reader.learn(documents)
    kept = [SlimDocument.of(document) for document in documents]
    alerts = [(an_alert("confirmed", document), kept) for document in documents]
    assert tell(reader, alerts) == [tell(reader, [alert])[0] for alert in alerts]
    assert tell(reader, []) == []
