"""Streams in several languages: each document is read by the rules of its own."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.state import pack_state, unpack_state
from firststory.text import StreamVectorizer
from firststory.text.language import stop_words, supported
from firststory.text.stop_word_index import codes, number_of, stop_word_index

SENTENCES = {
    "en": [
        "The storm has closed the bridge in the harbour and the police are looking for survivors",
        "Rescue workers said on Monday that they had found two more people under the ruins",
        "We are collecting food and water for all those who lost their homes in the flood",
        "The government will send more doctors to the towns that were hit by the earthquake",
    ],
    "es": [
        "El terremoto ha destruido las casas de la ciudad y los vecinos duermen en la calle",
        "La policía dijo el lunes que no hay más heridos por el incendio en el puerto",
        "Estamos recogiendo agua y comida para los que perdieron todo en las inundaciones",
        "El gobierno enviará más médicos a los pueblos que sufrieron el temblor de ayer",
    ],
    "it": [
        "Il terremoto ha distrutto le case della città e la gente dorme per strada",
        "La polizia ha detto che non ci sono altri feriti dopo l'incendio nel porto",
        "Stiamo raccogliendo acqua e cibo per quelli che hanno perso tutto con l'alluvione",
        "Il governo manderà altri medici nei paesi che sono stati colpiti dalla scossa di ieri",
    ],
    "pt": [
        "O incêndio destruiu as casas da cidade e os moradores não têm para onde ir",
        "A polícia disse que não há mais feridos depois do desabamento em São Paulo",
        "Estamos recolhendo água e comida para quem perdeu tudo com as enchentes",
        "O governo vai enviar mais médicos para as cidades que foram atingidas pela chuva",
    ],
    "tl": [
        "Ang bagyo ay nasa Maynila na at ang mga tao ay nasa mga simbahan",
        "Sinabi ng pulisya na wala nang nasugatan dahil sa baha sa lungsod",
        "Nangangailangan kami ng tubig at pagkain para sa mga nawalan ng bahay",
        "Magpapadala ang pamahalaan ng mga doktor sa mga bayan na tinamaan ng lindol",
    ],
    "de": [
        "Der Sturm hat die Brücke im Hafen zerstört und die Polizei sucht nach Vermissten",
        "Die Feuerwehr sagte am Montag, dass es keine weiteren Verletzten bei dem Brand gab",
        "Wir sammeln Wasser und Essen für alle, die bei der Flut ihre Häuser verloren haben",
        "Die Regierung wird mehr Ärzte in die Städte schicken, die vom Beben getroffen wurden",
    ],
    "fr": [
        "La tempête a détruit le pont du port et la police cherche des survivants",
        "Les pompiers ont dit lundi qu'il n'y avait pas d'autres blessés dans l'incendie",
        "Nous recueillons de l'eau et de la nourriture pour ceux qui ont tout perdu",
        "Le gouvernement va envoyer plus de médecins dans les villes touchées par le séisme",
    ],
    "zh": ["暴风雨后港口大桥关闭", "警方表示地震没有造成更多伤亡", "政府将派更多医生前往灾区"],
    "ar": [
        "أغلقت العاصفة الجسر في الميناء وتبحث الشرطة عن ناجين",
        "قالت الشرطة إنه لا يوجد المزيد من الجرحى بعد الحريق",
        "سترسل الحكومة المزيد من الأطباء إلى المدن التي ضربها الزلزال",
    ],
}
MIXED = [
    (code, text)
    for row in itertools.zip_longest(*([(code, text) for text in texts] for code, texts in SENTENCES.items()))
    for code, text in filter(None, row)
]
OPTIONS = {"weighting": "count", "norm": None, "surface_weight": 2.0, "short": 30}


def read(texts, size, vectorizer=None):
    """Rows as {term: weight} and languages, batch by batch."""
    v = vectorizer or StreamVectorizer(**OPTIONS)
    rows, languages = [], []
    for at in range(0, len(texts), size):
        X = v.partial_fit_transform(texts[at : at + size])
        terms = v.terms_
        rows += [{terms[c]: x for c, x in zip(row.indices, row.data, strict=True)} for row in X]
        languages += v.last_languages
    return rows, languages, v


def test_each_document_is_in_its_own_language():
    _, languages, v = read([text for _, text in MIXED] * 2, 7)
    assert languages == [code for code, _ in MIXED] * 2
    assert set(v.languages_.recent()) == set(SENTENCES)


@pytest.mark.parametrize("code", ["en", "es", "it", "pt", "tl", "de", "fr", "ar"])
def test_a_document_of_a_mixed_stream_has_the_terms_that_its_language_gives(code):
    rows, _, _ = read([text for _, text in MIXED], 5)
    alone, _, _ = read(SENTENCES[code], 5, StreamVectorizer(code, **OPTIONS))
    assert [row for row, (other, _) in zip(rows, MIXED, strict=True) if other == code] == alone


def test_one_form_has_another_term_in_another_language():
    v = StreamVectorizer(**OPTIONS | {"short": 0})
    v.partial_fit(SENTENCES["de"] + SENTENCES["en"])
    said = [token.surface for token in v.tokens("Die Städte, die sich vom Sturm erholt haben, und die Brücken")]
    assert "die" not in said and "Städte" in said
    said = [token.surface for token in v.tokens("They will die in the storm, said the police, if we are not there")]
    assert "die" in said


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(len(MIXED))), st.lists(st.integers(1, len(MIXED) - 1), max_size=4))
def test_rows_do_not_depend_on_how_the_stream_is_cut(order, cuts):
    texts = [MIXED[i][1] for i in order]
    whole, languages, v = read(texts, len(texts))
    pieces = StreamVectorizer(**OPTIONS)
    rows, found = [], []
    for a, b in itertools.pairwise([0, *sorted(set(cuts)), len(texts)]):
        more, said, _ = read(texts[a:b], b - a, pieces)
        rows, found = rows + more, found + said
    assert (rows, found) == (whole, languages)
    assert pack_state(pieces.get_state()) == pack_state(v.get_state())


def test_state_goes_on_where_it_was():
    texts = [text for _, text in MIXED]
    whole, languages, _ = read(texts, 4)
    _, _, first = read(texts[:12], 4)
    resumed = StreamVectorizer().set_state(unpack_state(pack_state(first.get_state())))
    rows, found, _ = read(texts[12:], 4, resumed)
    assert (rows, found) == (whole[12:], languages[12:])


def test_transform_and_tokens_never_learn_a_language():
    _, _, v = read([text for _, text in MIXED], 9)
    before = pack_state(v.get_state())
    v.transform(SENTENCES["fr"] * 20)
    v.tokens(SENTENCES["tl"][0])
    v.surface_forms(SENTENCES["it"])
    assert pack_state(v.get_state()) == before


def test_pruning_keeps_the_terms_of_every_language():
    texts = [text for _, text in MIXED]
    _, _, v = read(texts, 9)
    before = v.transform(texts)
    remap = v.prune(n_terms=40)
    np.testing.assert_array_equal(v.transform(texts).toarray(), remap.matrix(before).toarray())


@pytest.mark.parametrize("code", [code for code in supported() if len(stop_words(code)) > 20])
def test_a_document_of_stop_words_is_empty_in_every_language(code):
    if code in ("th", "ja", "zh"):
        pytest.skip("cut differently where they stand side by side")
    words = [word for word in sorted(stop_words(code)) if word.isalpha()][:20]
    _, _, v = read(SENTENCES["en"] * 5, 10)
    assert v.partial_fit_transform([" ".join(words)]).nnz == 0


def test_nothing_shown_is_a_stop_word_of_a_language_of_the_stream():
    _, _, v = read([text for _, text in MIXED] * 3, 10)
    taglish = "The flood in Manila ay malakas na and the people ay nasa mga simbahan, says the mayor"
    v.partial_fit([taglish])
    shown = [token.surface.lower() for token in v.tokens(taglish, language=v.last_languages[0])]
    assert {"flood", "manila", "simbahan", "mayor"} <= set(shown)
    assert not {"ay", "na", "mga"} & set(shown)
    X = v.transform([taglish])
    common = dict(zip((v.terms_[c] for c in X.indices), v.is_common(X.indices), strict=True))
    assert not common["flood"] and all(common[word] for word in ("people", "says") if word in common)


def test_a_stream_in_english_and_german_still_tells_of_war():
    _, _, v = read((SENTENCES["en"] + SENTENCES["de"]) * 4, 8)
    assert "war" in [token.surface for token in v.tokens("The war in the north has begun, said the ministers")]


def test_the_stream_decides_where_a_text_is_too_short():
    for code in ("es", "en"):
        _, _, v = read(SENTENCES[code] * 5, 10)
        v.partial_fit(["Hotel Central"])
        assert v.last_languages == [code]


def test_a_long_document_has_one_language():
    text = " ".join(SENTENCES["es"] * 2000)
    v = StreamVectorizer(**OPTIONS).partial_fit(SENTENCES["en"] * 4)
    v.partial_fit([text, SENTENCES["en"][0]])
    assert v.last_languages == ["es", "en"]


def test_index_holds_every_stop_word_and_every_script_has_its_languages():
    from firststory.kernels.text.languages import slot_of, word_key

    index = stop_word_index()
    for word, code in (("the", "en"), ("não", "pt"), ("für", "de"), ("не", "ru"), ("في", "ar")):
        letters = np.frombuffer(word.upper().encode("utf-32-le"), dtype=np.uint32)
        slot = slot_of(np.uint64(word_key(letters, 0, letters.size, index.lower)), index.keys)
        assert number_of(code) in index.languages[index.first[slot] : index.last[slot]]
    assert index.written.any(axis=0).all() and index.written.shape[1] == len(codes()) - 1
