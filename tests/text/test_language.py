"""Languages: every one that is covered, and the one that is found."""

from __future__ import annotations

import subprocess
import sys

import pytest

from firststory.errors import MissingExtraError, ParameterError
from firststory.state import pack_state, unpack_state
from firststory.text import StreamVectorizer
from firststory.text.language import SHORT_ENGLISH, STEMMERS, identify, stop_words, supported
from firststory.text.segmentation import IcuSegmenter, best_segmenter

GERMAN = "Der Hafen wurde nach dem Sturm wieder für den Verkehr geöffnet, sagte die Polizei am Montag."
ENGLISH = "The harbour was opened to traffic again after the storm, police said on Monday."
FRENCH = "Le port a été rouvert à la circulation après la tempête, a déclaré la police lundi."


@pytest.mark.parametrize("code", supported())
def test_every_language_drops_its_stop_words_and_stems(code):
    words = sorted(stop_words(code))
    v = StreamVectorizer(code, weighting="count", norm=None)
    rows = v.fit_transform([" ".join(word for word in words if word.isalpha()), "2017 Tōkyō"])
    if code not in ("th", "ja", "zh"):  # cut differently where they stand side by side
        assert rows[0].nnz == 0
    assert rows[1].nnz == 2
    assert v.language_ == code


def test_what_is_covered():
    import Stemmer
    import stopwordsiso

    names = set(STEMMERS.values()) | {"porter", "dutch_porter"}
    assert set(Stemmer.algorithms()) <= names
    assert set(stopwordsiso.langs()) <= set(supported())


def test_unknown_language_is_an_error_that_lists_the_known():
    with pytest.raises(ParameterError, match=r"language must be .*\bde\b.*\ben\b.*received xx"):
        StreamVectorizer("xx").fit(["a"])


@pytest.mark.parametrize(
    ("given", "code"), [("en-GB", "en"), ("zh_TW", "zh"), ("English", "en"), ("nb", "no"), ("iw", "he")]
)
def test_other_names_of_a_language(given, code):
    assert StreamVectorizer(given).fit(["a"]).language_ == code


@pytest.mark.parametrize(("text", "code"), [(GERMAN, "de"), (ENGLISH, "en"), (FRENCH, "fr"), ("... 12 !", "und")])
def test_identified(text, code):
    assert identify(text) == code
    assert StreamVectorizer().fit([text]).language_ == code


def test_the_language_of_the_stream_is_that_of_most_documents_whatever_the_batches():
    stream = [ENGLISH] * 12 + [GERMAN] * 9
    states = []
    for size in (1, 7, 100):
        v = StreamVectorizer()
        for at in range(0, len(stream), size):
            v.partial_fit(stream[at : at + size])
        assert v.language_ == "en"
        states.append(pack_state(v.get_state()))
    assert states[0] == states[1] == states[2]
    assert v.partial_fit([GERMAN] * 40).language_ == "de"


def test_a_short_beginning_does_not_decide_for_ever():
    v = StreamVectorizer().partial_fit(["OK", "Hotel Taxi"]).partial_fit([GERMAN] * 10)
    assert v.language_ == "de"
    resumed = StreamVectorizer().set_state(unpack_state(pack_state(v.get_state())))
    assert resumed.partial_fit([ENGLISH] * 5).language_ == "de"


def test_identifier_is_loaded_only_for_auto():
    code = (
        "import sys, firststory.text as t; t.StreamVectorizer('en').fit(['storm']); print('py3langid' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_icu_cuts_words_and_counts_characters():
    pytest.importorskip("icu")
    assert best_segmenter() == "icu"
    segmenter = IcuSegmenter()
    for run in ("北京大学的学生", "東京タワーで火災", "ประเทศไทยเกิดน้ำท่วมใหญ่", "𠮷野家𠮷"):
        spans = segmenter.spans(run)
        assert "".join(run[a:b] for a, b in spans) == run and len(spans) > 1
    v = StreamVectorizer("zh").fit(["北京发生火灾 iPhone 15手机"])
    assert {"北京", "火灾", "iphone", "15", "手机"} <= set(v.get_feature_names_out())


def test_without_icu_pairs_of_characters(monkeypatch):
    monkeypatch.setitem(sys.modules, "icu", None)
    monkeypatch.setattr("firststory.text.segmentation.find_spec", lambda name: None)
    v = StreamVectorizer("zh", stop_words=None).fit(["北京火灾"])
    assert v.segmenter_ == "bigrams"
    assert v.get_feature_names_out().tolist() == ["北京", "京火", "火灾"]
    with pytest.raises(MissingExtraError, match=r"firststory\[icu\]"):
        StreamVectorizer("zh", segmenter="icu").fit(["北京"])


def test_short_stop_words_are_those_of_scikit_learn():
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    assert {word for word in ENGLISH_STOP_WORDS if len(word) <= 2} == SHORT_ENGLISH
