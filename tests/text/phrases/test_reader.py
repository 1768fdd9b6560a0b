"""What is read of a text and learnt from it: planted names, figures and phrases, hostile text, saved state."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.errors import ParameterError, StateError
from firststory.records import Document
from firststory.state import pack_state, unpack_state
from firststory.text.phrases import PhraseReader
from firststory.text.phrases.alphabet import fold, key_numbers

NEWS = (
    "Senator Mary Holloway explained yesterday that the bridge in Oakville was closed and repaired.",
    "The bridge near Oakville is owned and repaired by Brightwater Energy, explained Mary Holloway.",
    "People in Oakville blamed Brightwater Energy for the closed bridge, which flood water damaged.",
    "A speaker for Brightwater Energy told Mary Holloway that several houses were damaged by flood water.",
    "In Oakville the mayor blamed the White House; later somebody explained everything to Holloway.",
    "The flood water damaged houses that were seen from the White House, explained Mary Holloway later.",
)
"""Lines with few words but names would be in Title Case."""


def documents(*texts: str, source: str | None = None) -> list[Document]:
    return [Document(id=str(i), text=text, source=source) for i, text in enumerate(texts)]


@pytest.fixture(scope="module")
def taught() -> PhraseReader:
    reader = PhraseReader(capacity=1 << 12)
    reader.learn(documents(*NEWS, *NEWS, *NEWS))
    return reader


def texts(reader: PhraseReader, text: str, form: str) -> list[str]:
    return [phrase.text for phrase in reader.phrases(Document(id="x", text=text)) if phrase.form == form]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("The report was written by Mary Holloway in Oakville and printed later.", ["Mary Holloway", "Oakville"]),
        ("Holloway Blamed Brightwater Energy For Flood", ["Mary Holloway", "Brightwater Energy"]),
        (
            "It was explained by President Juan de la Cruz of the Bank of Oakville, printed and repaired later.",
            ["Juan de la Cruz", "Bank of Oakville"],
        ),
        (
            "Several visitors talked with J. K. Rowling and George W. Bush about writing.",
            ["J. K. Rowling", "George W. Bush"],
        ),
        ("Later the White House's newest WikiLeaks trouble worried visitors.", ["White House", "WikiLeaks"]),
        ("Visitors praised Prime Minister Theresa May warmly on May 5 while talking.", ["Theresa May"]),
        ("Visitors praised Arizona Gov. Jan Brewer warmly while talking.", ["Arizona", "Jan Brewer"]),
        ("a text in lower case has no names", []),
    ],
)
def test_names(taught, text, names):
    assert texts(taught, text, "name") == names


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("It cost $1.4 million, or £20m, in fines.", ["$1.4 million", "£20m"]),
        ("A 254-pound man lost 12 percent, that is 3%.", ["254-pound", "12 percent", "3%"]),
        ("In 2018, on 2018-10-01 at 9:30, the 3rd time in the 1990s.", []),
        ("Some 5 million people and 12 wounded.", ["5 million people", "12 wounded"]),
        ("They lost 7 of 12 there.", []),
    ],
)
def test_figures_have_a_unit_and_years_are_none(taught, text, figures):
    assert texts(taught, text, "figure") == figures


def test_what_follows_numbers_is_learnt_to_be_a_unit():
    reader = PhraseReader(capacity=1 << 10)
    text = "They found 40 widgets there."
    assert texts(reader, text, "figure") == []
    reader.learn(documents(*(f"They counted {n} widgets and a gadget." for n in range(3, 9))))
    assert texts(reader, text, "figure") == ["40 widgets"]
    assert texts(reader, "They found 40 gadgets there.", "figure") == []


def test_variants_are_one_phrase(taught):
    text = "Kim Jong-un spoke. They saw KIM JONG UN'S train, and Kim Jong Un, and #KimJongUn."
    phrases = [phrase for phrase in taught.phrases(Document(id="x", text=text)) if "kim" in phrase.key]
    assert [(phrase.text, phrase.key, phrase.times) for phrase in phrases] == [("Kim Jong-un", "kim jong un", 4)]


TEXT = "Visitors wondered why Holloway resigned"


def test_a_surname_goes_to_the_person_that_the_stream_means(taught):
    (found,) = [p for p in taught.phrases(Document(id="x", text=TEXT)) if p.form == "name"]
    assert (found.text, found.kind) == ("Mary Holloway", "person")
    assert TEXT[found.start : found.end] == "Holloway"


def test_a_surname_of_two_people_is_left_alone():
    reader = PhraseReader(capacity=1 << 10)
    reader.learn(documents(*("Several visitors talked with Jane Doe.", "Several visitors talked with Frank Doe.") * 6))
    assert texts(reader, "Several visitors talked while Doe listened.", "name") == ["Doe"]


def test_hashtags_are_split(taught):
    assert texts(taught, "pray #BostonMarathon #FBIAgents2013 #prayers", "hashtag") == [
        "Boston Marathon", "FBI Agents 2013", "prayers"]  # fmt: skip


def test_what_only_the_body_has_counts_if_it_is_repeated(taught):
    body = "word " * 80 + "They met Rosalind Franklin. And Rosalind Franklin and Max Planck. So did Rosalind Franklin."
    found = taught.phrases(Document(id="x", text=f"The bridge was damaged\n{body}"))
    assert [(p.text, p.zone, p.times) for p in found if p.form == "name"] == [("Rosalind Franklin", "body", 3)]


def test_the_title_of_the_document_comes_first_and_has_no_place_in_the_text():
    reader = PhraseReader(capacity=1 << 10)
    found = reader.phrases(Document(id="x", title="Fire in Lisbon", text="All of it burns down in Lisbon and Porto."))
    places = {phrase.text: (phrase.start, phrase.end, phrase.zone) for phrase in found}
    assert places["Lisbon"] == (-1, -1, "title")
    assert places["Porto"] == (35, 40, "lead")


@settings(max_examples=150, deadline=None)
@given(
    st.text(
        alphabet=st.one_of(st.sampled_from(" \n.'-#@&$%:,aAbB12éÉσ\u202e\0\u0301中文"), st.characters()), max_size=80
    )
)
def test_every_phrase_stands_where_it_says(text):
    reader = PhraseReader(capacity=1 << 10)
    reader.learn(documents(text))
    for phrase in reader.phrases(Document(id="x", text=text)):
        assert 0 <= phrase.start < phrase.end <= len(text)
        assert phrase.key and phrase.text and len(phrase.text) <= 60
        assert not any(unicodedata.category(c) in ("Cc", "Cf", "Cs") and c not in "\u200c\u200d" for c in phrase.text)
        if phrase.form in ("name", "figure"):  # the number of the key is the one that the kernel gave
            rows = reader.read(documents(text)).found
            assert int(key_numbers([fold(text[phrase.start : phrase.end])])[0]) in rows["key"].tolist()


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "A" * 1_000_000,
        "Ab " * 300_000,
        "1" * 100_000,
        "#" * 50_000,
        "http://" + "x" * 100_000,
        "Storm\u202e closes\u200b the \u2066Harbour\u2069 Bridge\0\x1b[31m",
        "\ud800\udfff lone surrogates \ud800",
        "東京で大きな地震がありました。" * 500,
        "عاجل: زلزال كبير يضرب المدينة",
        "e\u0301" * 5000,
        "",
        "\n \t\r\n",
        "$ £ % # @ & ' - .",
    ],
)
def test_hostile_text_is_harmless(text):
    reader = PhraseReader(capacity=1 << 10)
    reader.learn(documents(text, text, source="x\n\0"))
    for phrase in reader.phrases(Document(id="x", text=text, title=text, source=text)):
        assert len(phrase.text) <= 60
        assert not set(phrase.text) & set("\0\x1b\u202e\u2066\u2069\u200b\n")


def test_batches_and_a_saved_state_change_nothing():
    stream = documents(
        *NEWS, *(f"Title number {n} by Ann Miller\nBody of {n} lines." for n in range(40)), source="Daily"
    )
    whole, parts = PhraseReader(capacity=1 << 10), PhraseReader(capacity=1 << 10)
    whole.learn(stream)
    for n in range(0, len(stream), 7):
        parts = PhraseReader.from_state(unpack_state(pack_state(parts.get_state())))
        parts.learn(stream[n : n + 7])
    assert pack_state(whole.get_state()) == pack_state(parts.get_state())
    assert [whole.phrases(one) for one in stream] == [parts.phrases(one) for one in stream]


def test_asking_teaches_nothing(taught):
    before = pack_state(taught.get_state())
    taught.phrases(Document(id="x", text="Entirely new words by Nobody Known", source="Daily"))
    assert pack_state(taught.get_state()) == before


def test_memory_is_bounded_and_counts_fade():
    reader = PhraseReader(capacity=1 << 10, half_life=10.0)
    size = sum(array.nbytes for array in reader.get_state().values() if isinstance(array, np.ndarray))
    reader.learn(documents(*(f"Word{n} met Name{n} Surname{n} at place{n}." for n in range(5000))))
    assert sum(array.nbytes for array in reader.get_state().values() if isinstance(array, np.ndarray)) == size
    # The sum of halves with a half-life of ten documents.
    assert reader.n_documents_ == pytest.approx(1.0 / (1.0 - 2.0**-0.1), rel=1e-6)
    reader.learn(documents("Several visitors talked with Ada Lovelace.", *["nothing to see here"] * 10))
    assert reader.documents_with("Ada Lovelace") == pytest.approx(0.5, rel=1e-4)


def test_the_unit_is_brought_back_before_it_overflows():
    reader = PhraseReader(capacity=1 << 10, half_life=1.0)
    reader.learn(documents(*["Several visitors talked with Ada Lovelace."] * 2000))
    assert reader.documents_with("Ada Lovelace") == pytest.approx(2.0, rel=1e-4)
    assert np.isfinite(reader.tables.names.counts).all()


def test_parameters_and_damaged_state_are_refused():
    with pytest.raises(ParameterError, match="half_life"):
        PhraseReader(half_life=0.0)
    with pytest.raises(ParameterError, match="capacity"):
        PhraseReader(capacity=1000)
    with pytest.raises(ParameterError, match="language"):
        PhraseReader(languages=["klingon"])
    state = PhraseReader(capacity=1 << 10).get_state()
    with pytest.raises(StateError, match="clock"):
        PhraseReader.from_state(state | {"tables/clock": np.zeros(2)})
    with pytest.raises(StateError, match="version"):
        PhraseReader.from_state(state | {"version": 99})


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="abAB é-12$", max_size=20))
def test_folding_twice_is_folding_once(text):
    once = fold(text)
    assert fold(once) == once == once.strip()
