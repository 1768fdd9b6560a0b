"""Evidence, kinds, boilerplate, titles, sentences and labels on planted streams."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.records import Document
from firststory.text.phrases import (
    PhraseReader,
    Report,
    TopicLabels,
    boilerplate_spans,
    choose_evidence,
    telling_sentence,
    without_boilerplate,
)
from firststory.text.phrases.labels import is_stop
from firststory.text.phrases.profiles import first_day
from firststory.text.phrases.sentences import sentences, telling_sentences

ORDINARY = [
    f"The council of town {n} met on Monday and said the budget for schools was passed by a vote." for n in range(60)
]


def documents(texts, source=None):
    return [Document(id=str(i), text=text, source=source) for i, text in enumerate(texts)]


@pytest.fixture
def reader() -> PhraseReader:
    made = PhraseReader(capacity=1 << 12)
    made.learn(documents(ORDINARY))
    return made


def test_evidence_is_what_is_rare_in_title_and_lead(reader):
    text = (
        "Council fined $2 million after chlorine leak in Porto\n"
        "The council of Porto was fined after the chlorine leak that Maria Santos reported on Monday.\n"
        + "The budget for schools was passed by a vote. "
        * 20
    )
    found = choose_evidence(reader, Document(id="x", text=text))
    assert 3 <= len(found) <= 6
    shown = [phrase.text for phrase in found]
    assert {"$2 million", "Porto"} <= set(shown) and any("chlorine" in one for one in shown)
    assert not any("budget" in one or "vote" in one for one in shown)
    assert [phrase.start for phrase in found] == sorted(phrase.start for phrase in found)
    words = [word for phrase in found for word in phrase.key.split()]
    assert len(words) == len(set(words))  # nothing repeats


def test_it_does_not_matter_whether_the_document_was_learnt(reader):
    storm = Document(id="x", text="Chlorine leak kills 12 people in Porto, says Maria Santos")
    before = choose_evidence(reader, storm)
    reader.learn([storm])
    assert [phrase.key for phrase in choose_evidence(reader, storm)] == [phrase.key for phrase in before]


@pytest.mark.parametrize("text", ["", "the of and", "\0", "12"])
def test_a_text_that_says_nothing_has_no_evidence(reader, text):
    assert choose_evidence(reader, Document(id="x", text=text)) == []


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Maria Santos", "person"),
        ("Zubkov", "person"),
        ("Lisbon", "place"),
        ("Karsk Valley", "place"),
        ("Brightwater Corporation", "organisation"),
        ("NATO", "organisation"),
        ("Great Leap", "other"),
    ],
)
def test_kinds_by_what_stands_beside_and_in_a_name(name, kind):
    reader = PhraseReader(capacity=1 << 10)
    reader.learn(
        documents(
            [
                "Visitors heard that Maria Santos resigned, while Sergei Zubkov, 39, stayed there working.",
                "Visitors were told that Sergei Zubkov said so; another letter was written by Zubkov yesterday.",
                "Delegates from NATO were meeting quietly in Lisbon and travelled through Karsk Valley later.",
                "Several employees called their factory Great Leap and talked about moving elsewhere.",
                "Several employees left the Brightwater Corporation and talked about moving elsewhere.",
            ]
            * 3
        )
    )
    assert reader.kind(name) == kind


def test_a_source_s_own_phrases_are_boilerplate_and_the_news_is_not():
    stream = []
    for n in range(40):
        stream.append(
            Document(
                id=f"a{n}", source="Daily", text=f"Fire number {n}\nSend Facebook Digg Permalink. House {n} burnt."
            )
        )
        stream.append(Document(id=f"b{n}", source="Times", text=f"Vote number {n}\nThe council has passed law {n}."))
    reader = PhraseReader(capacity=1 << 12)
    reader.learn(stream)
    text = "Flood in Porto\nSend Facebook Digg Permalink. The council has passed law 99."
    ours = Document(id="x", source="Daily", text=text)
    assert [text[begin:end] for begin, end in boilerplate_spans(reader, ours)] == ["Send Facebook Digg Permalink."]
    assert without_boilerplate(reader, ours) == "Flood in Porto\n  The council has passed law 99."
    assert not any("facebook" in phrase.key for phrase in reader.phrases(ours))
    # Another source may say the same; so may one that is not known, or has too few documents yet.
    text = "Flood in Porto\nSend Facebook Digg Permalink."
    for source in ("Times", "Herald", None):
        assert not any(
            "Facebook" in text[b:e] for b, e in boilerplate_spans(reader, Document("x", text, source=source))
        )


def test_a_mark_before_a_colon_goes_where_a_source_often_has_it():
    reader = PhraseReader(capacity=1 << 12)
    reader.learn(documents([f"VIDEO: cure number {n} found" for n in range(30)], "Health"))
    reader.learn(documents([f"Ebola outbreak: case {n} of Ebola in Liberia" for n in range(30)], "Other"))
    shown = [p.text for p in reader.phrases(Document(id="x", text="VIDEO: flu in Porto", source="Health"))]
    assert "video" not in [one.lower() for one in shown] and "Porto" in shown
    kept = [p.key for p in reader.phrases(Document(id="x", text="VIDEO: flu in Porto", source="Other"))]
    assert "video" in kept


BURST = [
    Report(
        "Bridge collapses in Genoa", "Bridge collapses in Genoa\nA motorway bridge collapsed in Genoa on Tuesday.", 0.0
    ),
    Report(
        "Watch live: Genoa bridge", "Watch live: Genoa bridge\nWe follow the events here as they unfold today.", 600.0
    ),
    Report("Genoa bridge collapse kills 35 people", "At least 35 people were killed when a bridge collapsed.", 1200.0),
    Report("Why do bridges collapse?", "It is a question that many people ask themselves these days.", 1800.0),
    Report(
        "Salvini blames EU after bridge collapses in Genoa", "Mr. Salvini blamed the European Union for it.", 3000.0
    ),
]

CAPTIONS = [Report(f"Bridge in Genoa {n}", "A picture of the bridge that collapsed in Genoa", n) for n in range(3)]


def test_sentences_do_not_depend_on_the_order(reader):
    assert telling_sentence(reader, BURST[::-1]) == telling_sentence(reader, BURST)


def test_sentences_of_several_bursts_are_those_of_each_alone(reader):
    flood = [Report("Flood in Bremen", f"The Weser rose by {n} metres in Bremen on Monday night.", n) for n in range(5)]
    bursts = [BURST, [], CAPTIONS, flood, BURST[:1]]
    assert telling_sentences(reader, bursts) == [telling_sentence(reader, burst) for burst in bursts]


def test_a_burst_without_a_whole_sentence_is_not_read(reader, monkeypatch):
    monkeypatch.setattr(type(reader), "read", None)
    assert telling_sentences(reader, [CAPTIONS, []]) == ["", ""]


def test_the_sentence_stands_in_a_report_and_names_the_event(reader):
    sentence = telling_sentence(reader, BURST)
    assert any(sentence in report.text for report in BURST)
    assert "bridge collapsed" in sentence
    assert telling_sentence(reader, []) == ""


def test_the_first_day_begins_with_the_burst_not_with_a_stray_report():
    day = 86_400.0
    times = [0.0, 10 * day, 10 * day + 60, 10 * day + 120, 12 * day, *(10.5 * day + i for i in range(7))]
    early = [report.time for report in first_day([Report("t", "x", time) for time in times])]
    assert early == sorted(time for time in times if 10 * day <= time < 11 * day)


def test_sentences_end_at_sentences():
    text = "WASHINGTON (Reuters) - Mr. Smith met Sen. Jones. They spoke. “It is late.” She left at 3.5 p.m. today"
    assert sentences(text) == [
        "Mr. Smith met Sen. Jones.",
        "They spoke.",
        "“It is late.”",
        "She left at 3.5 p.m. today",
    ]
    assert sentences("雨が降った。\n風も吹いた！彼は言った") == ["雨が降った。", "風も吹いた！", "彼は言った"]
    assert sentences("He left.\nno more!” She\n\nstayed.”  Gen. Lee") == [
        "He left.",
        "no more!”",
        "She",
        "stayed.”",
        "Gen. Lee",
    ]
    assert sentences("x" * 1_000_000) == sentences("") == [], "a sentence without an end is none"
    assert sentences("It rained. They le", is_cut=True) == ["It rained."]


def test_labels_name_their_topics_without_stop_words():
    reader = PhraseReader(capacity=1 << 12, languages=())
    labels = TopicLabels(window=300)
    rng = np.random.default_rng(0)
    fillers = [f"w{n}" for n in range(200)]
    for _ in range(150):
        a, b, c, d = (fillers[i] for i in rng.integers(0, 200, 4))
        texts = [f"{a} the Brexit {b} the customs union {c} the {d}", f"{a} the Mueller {b} the grand jury {c} the {d}"]
        labels.learn(reader.learn(documents(texts)), [0, 1], ["und", "und"])
    assert is_stop(reader, "the") and not is_stop(reader, "customs")
    groups = [range(0, 300, 2), range(1, 300, 2)]
    first, second = ([phrase.text for phrase in label] for label in labels.labels(reader, groups))
    assert "Brexit" in first and "Mueller" in second and 1 <= len(first) <= 3
    assert any("customs" in phrase for phrase in first) and any("jury" in phrase for phrase in second)
    assert not any(word == "the" for phrase in (*first, *second) for word in phrase.split())
    again = TopicLabels.from_state(labels.get_state())
    told = again.labels(PhraseReader.from_state(reader.get_state()), groups)
    assert [[phrase.text for phrase in label] for label in told] == [first, second]


def test_a_label_has_no_stop_word_of_the_languages_of_its_stream():
    reader = PhraseReader(capacity=1 << 12)
    labels = TopicLabels()
    texts = ["por incendio en refinería", "Lauf durch den Park"] * 20
    labels.learn(reader.learn(documents(texts)), range(40), ["es", "de"] * 20)
    shown = [
        phrase.text.lower()
        for label in labels.labels(reader, [range(0, 40, 2), range(1, 40, 2)], 6)
        for phrase in label
    ]
    assert any("refinería" in phrase for phrase in shown) and any("park" in phrase for phrase in shown)
    ends = {word for phrase in shown for word in (phrase.split()[0], phrase.split()[-1])}
    assert not ends & {"por", "en", "durch", "den"}


def test_a_topic_that_is_all_of_the_window_has_a_label_and_a_format_has_none(reader):
    labels = TopicLabels()
    texts = ["Volcano erupts on Mount Kasari"] * 30 + ["Watch live"] * 30
    labels.learn(reader.learn(documents(texts)), range(60), ["en"] * 60)
    everything, formats = labels.labels(reader, [range(30), range(30, 60)])
    assert ("Mount Kasari", 1.0) in everything
    assert formats == ()
    alone = TopicLabels()
    alone.learn(reader.learn(documents(texts[:30])), range(30), ["en"] * 30)
    (whole,) = alone.labels(reader, [range(30)])
    assert ("Mount Kasari", 1.0) in whole


def test_only_the_latest_documents_are_remembered(reader):
    labels = TopicLabels(window=2)
    labels.learn(reader.learn(documents(["Porto", "Lyon", "Ghent"])), [0, 1, 2], ["en"] * 3)
    assert len(labels) == 2
    assert list(labels.labels(reader, [[]])) == [()]
