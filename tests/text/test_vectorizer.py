"""The vectorizer against a slow twin, and the stream contract of text."""

from __future__ import annotations

import math
import os
import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks as checks

import firststory as fs
from firststory.errors import ParameterError
from firststory.state import pack_state, unpack_state
from firststory.text import StreamVectorizer

STREAM = [
    "Storm closes harbour bridge; 2,000 homes without power",
    "Harbour bridge reopens after Storm",
    "",
    "the of and",
    "Minister resigns over harbour contract worth 3.5 billion",
    "storm storm STORM Storm in Harbour",
    "Quake of magnitude 6.1 hits island, tsunami warning",
    "Tsunami warning lifted; quake island counts damage",
] * 3


def twin(texts, *, weighting, norm, sublinear, half_life, surface_weight):
    """tf-idf of the past, written down from the definition: O(n^2), no cleverness."""
    past: list[set[str]] = []
    columns: dict[str, int] = {}
    rows = []
    for text in texts:
        counts: dict[str, float] = {}
        for word in re.findall(r"[^\W_]{2,}", text):
            marked = word[0].isupper() or any(c.isdigit() for c in word)
            counts[word.lower()] = counts.get(word.lower(), 0.0) + (surface_weight if marked else 1.0)
            columns.setdefault(word.lower(), len(columns))
        age = [1.0 if half_life is None else 0.5 ** ((len(past) - 1 - s) / half_life) for s in range(len(past))]
        row = {}
        for term, x in counts.items():
            value = 1.0 if weighting == "binary" else 1.0 + math.log(x) if sublinear else x
            if weighting == "tfidf":
                df = sum(w for w, words in zip(age, past, strict=True) if term in words)
                value *= math.log((1 + sum(age)) / (1 + df)) + 1
            row[columns[term]] = value
        size = {None: 1.0, "l1": sum(row.values()), "l2": math.sqrt(sum(v * v for v in row.values()))}[norm]
        rows.append({v: x / size for v, x in row.items()})
        past.append(set(counts))
    dense = np.zeros((len(texts), len(columns)))
    for i, row in enumerate(rows):
        for v, x in row.items():
            dense[i, v] = x
    return dense, list(columns)


@pytest.mark.parametrize("norm", ["l1", "l2", None])
@pytest.mark.parametrize("weighting", ["tfidf", "count", "binary"])
@pytest.mark.parametrize(("sublinear", "half_life", "surface_weight"), [(False, None, 1.0), (True, 3.0, 2.0)])
@pytest.mark.parametrize("batch", [1, 5, 100])
def test_equals_the_definition_however_the_stream_is_cut(norm, weighting, sublinear, half_life, surface_weight, batch):
    options = {
        "weighting": weighting,
        "norm": norm,
        "sublinear": sublinear,
        "half_life": half_life,
        "surface_weight": surface_weight,
    }
    expected, terms = twin(STREAM, **options)
    v = StreamVectorizer(language=None, token_rule="plain", stop_words=None, stem=False, **options)
    rows = [v.partial_fit_transform(STREAM[i : i + batch]) for i in range(0, len(STREAM), batch)]
    assert v.get_feature_names_out().tolist() == terms
    dense = np.vstack([np.pad(r.toarray(), ((0, 0), (0, len(terms) - r.shape[1]))) for r in rows])
    np.testing.assert_allclose(dense, expected, rtol=1e-12)
    assert all(r.has_sorted_indices and (r.data > 0).all() for r in rows)


def test_counts_equal_the_words_of_python_re():
    v = StreamVectorizer(
        language="en", token_rule="plain", stop_words="sklearn", stem=False, weighting="count", norm=None
    )
    text = "It's 3.5% of the U.S. naïve_café, ½ mile: 日本 x y2k"
    v.fit([text])
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words = [w.lower() for w in re.findall(r"[^\W_]{2,}", text) if w.lower() not in ENGLISH_STOP_WORDS]
    assert v.get_feature_names_out().tolist() == list(dict.fromkeys(words))


def test_rows_of_the_fused_detector_on_real_news():
    """The options that the fused score was designed with give what a dictionary and `re` give, column for column."""
    if not os.environ.get("FIRSTSTORY_DATA"):
        pytest.skip("FIRSTSTORY_DATA is not set: no corpora")
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    texts = list(fs.datasets.load_localnews().texts)[:600]
    v = StreamVectorizer(
        "en", token_rule="plain", stop_words="sklearn", stem=False, weighting="count", norm=None, surface_weight=2.0
    )
    rows = v.fit_transform(texts)
    columns: dict[str, int] = {}
    for i, text in enumerate(texts):
        counts: dict[int, float] = {}
        for word in re.findall(r"[^\W_]{2,}", text):
            if word.lower() not in ENGLISH_STOP_WORDS:
                column = columns.setdefault(word.lower(), len(columns))
                marked = word[0].isupper() or any(c.isdigit() for c in word)
                counts[column] = counts.get(column, 0.0) + (2.0 if marked else 1.0)
        assert dict(zip(rows[i].indices.tolist(), rows[i].data.tolist(), strict=True)) == counts
    assert v.get_feature_names_out().tolist() == list(columns)


def test_transform_never_learns_and_sees_all_of_the_past():
    v = StreamVectorizer(language="en").fit(STREAM)
    before = pack_state(v.get_state())
    rows = v.transform(["storm over quite unheard-of zanzibar", "harbour"])
    np.testing.assert_array_equal(
        rows.toarray(), v.transform(["storm over quite unheard-of zanzibar", "harbour"]).toarray()
    )
    v.tokens("zanzibar again")
    assert pack_state(v.get_state()) == before
    assert rows.shape == (2, len(v.vocabulary_))
    # What was only transformed is learnt like anything else afterwards, in order of appearance.
    v.partial_fit(["unknown zanzibar"])
    assert v.get_feature_names_out().tolist()[-2:] == ["unknown", "zanzibar"]


def test_future_after_a_round_trip_is_bit_identical(tmp_path):
    v = StreamVectorizer(half_life=10.0, surface_weight=2.0, max_terms=20)
    v.partial_fit(STREAM[:6])
    blob = pack_state(v.get_state())
    w = StreamVectorizer().set_state(unpack_state(blob))
    assert pack_state(w.get_state()) == blob
    fs.save_state(v, tmp_path / "v.safetensors")
    loaded = fs.load_state(tmp_path / "v.safetensors")
    for texts in (STREAM[6:9], STREAM[9:]):
        rows = [model.partial_fit_transform(texts) for model in (v, w, loaded)]
        for other in rows[1:]:
            assert other.data.tobytes() == rows[0].data.tobytes()
            assert other.indices.tobytes() == rows[0].indices.tobytes()
    assert pack_state(v.get_state()) == pack_state(w.get_state()) == pack_state(loaded.get_state())


def test_two_runs_give_the_same_bytes():
    runs = [StreamVectorizer().fit(STREAM) for _ in range(2)]
    assert pack_state(runs[0].get_state()) == pack_state(runs[1].get_state())


def test_full_vocabulary_drops_and_counts_new_terms():
    v = StreamVectorizer(language=None, max_terms=3, stop_words=None, weighting="count", norm=None)
    rows = v.partial_fit_transform(["aa bb cc dd dd", "dd aa ee"])
    assert v.is_full and v.get_feature_names_out().tolist() == ["aa", "bb", "cc"]
    assert v.n_dropped_ == 4
    np.testing.assert_array_equal(rows.toarray(), [[1, 1, 1], [1, 0, 0]])
    v.transform(["dd ee ff"])
    assert v.n_dropped_ == 4
    v.prune(2)
    v.partial_fit(["ee"])
    assert v.get_feature_names_out().tolist()[-1] == "ee"


@pytest.mark.parametrize("weighting", ["count", "tfidf"])
def test_pruned_matrix_equals_vectorizing_with_the_pruned_vocabulary(weighting):
    v = StreamVectorizer(language="en", weighting=weighting, norm=None, half_life=8.0).fit(STREAM)
    old_terms = v.get_feature_names_out()
    old = v.transform(STREAM)
    remap = v.prune(10, min_df=1.2)
    assert remap.width == len(v.vocabulary_) <= 10
    np.testing.assert_array_equal(remap.matrix(old).toarray(), v.transform(STREAM).toarray())
    assert v.get_feature_names_out().tolist() == remap.array(old_terms).tolist()
    for old_column, new_column in enumerate(remap.old_to_new):
        assert new_column < 0 or v.vocabulary_[old_terms[old_column]] == new_column
    assert v.prunings_ == [[len(STREAM), len(old_terms), remap.width]]
    with pytest.raises(ParameterError, match="before the pruning"):
        remap.matrix(old[:, :3])


def test_emptying_the_cache_of_forms_changes_nothing(monkeypatch):
    whole = StreamVectorizer(language="en")
    expected = [whole.partial_fit_transform([text]).toarray() for text in STREAM]
    monkeypatch.setattr("firststory.text.forms.MAX_FORMS", 8)
    monkeypatch.setattr("firststory.text.forms.FIRST_FORMS", 4)
    small = StreamVectorizer(language="en")
    for text, rows in zip(STREAM, expected, strict=True):
        np.testing.assert_array_equal(small.partial_fit_transform([text]).toarray(), rows)
        assert small._reader().table._capacity < 16


def test_long_documents_are_cut_without_a_trace(monkeypatch):
    text = " ".join(STREAM) * 3
    whole = StreamVectorizer(language="en").fit([text, "x", text])
    monkeypatch.setattr("firststory.text.chunks.chunks.__defaults__", (64,))
    cut = StreamVectorizer(language="en").fit([text, "x", text])
    assert pack_state(whole.get_state()) == pack_state(cut.get_state())
    np.testing.assert_array_equal(whole.transform([text]).toarray(), cut.transform([text]).toarray())
    assert whole.tokens(text) == cut.tokens(text)


def test_memory_does_not_grow_with_the_stream():
    v = StreamVectorizer(language="en", max_terms=50, half_life=20.0)
    sizes = []
    for t in range(12):
        v.partial_fit([f"term{t}x{i} storm" for i in range(40)])
        if v.is_full:
            v.prune()
        sizes.append(len(pack_state(v.get_state())))
    assert max(sizes[6:]) <= max(sizes[:6]) + 512


@pytest.mark.parametrize("text", ["", "the of and", "…!?", "\x00\x00", "\ud800", "a" * 1_000_000])
def test_nothing_to_say_gives_an_empty_row(text):
    rows = StreamVectorizer(language="en").fit_transform([text, "storm"])
    assert rows.shape == (2, 1) and rows[0].nnz == 0


def test_one_word_a_million_times():
    v = StreamVectorizer(language="en", weighting="count", norm=None)
    assert v.fit_transform(["storm " * 200_000]).toarray() == [[200_000.0]]


def test_a_document_of_megabytes_needs_no_more_than_its_row():
    text = " ".join(f"w{i % 997}" for i in range(1_000_000)) * 4
    v = StreamVectorizer(language="en", weighting="count", norm=None).fit(["warm", text[:1000]])
    tracemalloc.start()
    row = v.transform([text])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert row.sum() == sum(word in v.vocabulary_ for word in text.split())
    assert peak < 16e6 < len(text), f"{peak / 1e6:.0f} MB for {len(text) / 1e6:.0f} MB"


@pytest.mark.parametrize("texts", ["one string", b"bytes", [None], ["good", 3]])
def test_what_is_not_a_list_of_texts_is_refused(texts):
    with pytest.raises(ParameterError, match="iterable of str"):
        StreamVectorizer().fit(texts)


@pytest.mark.parametrize(
    "wrong",
    [
        {"language": "klingon"},
        {"max_terms": 0},
        {"norm": "l3"},
        {"half_life": 0},
        {"surface_weight": 0.5},
        {"urls": "x"},
    ],
)
def test_wrong_parameters_are_named(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        StreamVectorizer(**wrong).fit(["storm"])


def test_manners_of_scikit_learn():
    v = StreamVectorizer("en", norm="l1")
    assert clone(v).get_params() == v.get_params()
    with pytest.raises(NotFittedError):
        v.transform(["x"])
    assert v.partial_fit_transform([]).shape == (0, 0)
    own = StreamVectorizer("en", stop_words={"storm"}, stem=False).fit(["storm flood"])
    again = StreamVectorizer().set_state(unpack_state(pack_state(own.get_state())))
    assert again.partial_fit(["storm"]).get_feature_names_out().tolist() == ["flood"]


@pytest.mark.parametrize(
    "check",
    [
        checks.check_no_attributes_set_in_init,
        checks.check_parameters_default_constructible,
        checks.check_get_params_invariance,
        checks.check_set_params,
        checks.check_estimator_cloneable,
        checks.check_estimator_repr,
        checks.check_estimator_tags_renamed,
        checks.check_valid_tag_types,
    ],
)
def test_those_checks_of_scikit_learn_that_need_no_numbers(check):
    check("StreamVectorizer", StreamVectorizer())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(max_size=60), max_size=5), st.sampled_from(["words", "plain"]), st.sampled_from(["icu", "bigrams"])
)
def test_any_text_whatever(texts, rule, segmenter):
    if segmenter == "icu":
        pytest.importorskip("icu")
    v = StreamVectorizer(
        language=None, token_rule=rule, segmenter=segmenter, stop_words=None, weighting="count", norm=None
    )
    rows = v.partial_fit_transform(texts)
    for i, text in enumerate(texts):
        tokens = v.tokens(text)
        counted = np.zeros(rows.shape[1])
        for token in tokens:
            assert text[token.start : token.end] == token.surface
            assert v.vocabulary_.terms[token.column] == token.term != ""
            counted[token.column] += 1
        assert [t.start for t in tokens] == sorted(t.start for t in tokens)
        np.testing.assert_array_equal(rows[i].toarray()[0], counted)
    np.testing.assert_array_equal(v.transform(texts).toarray(), rows.toarray())


def test_short_texts_keep_their_longer_stop_words():
    headline, article = "Harbour made open again by the Storm", "Harbour made open again by the Storm " + "flood " * 40
    options = {"language": "en", "weighting": "count", "norm": None, "surface_weight": 4.0}
    vectorizer = StreamVectorizer(short=30, **options)
    rows = vectorizer.partial_fit_transform([headline, article]).toarray()
    short, long = ({vectorizer.vocabulary_.terms[v]: x for v, x in enumerate(row) if x} for row in rows)
    assert {"made", "open", "again"} & set(short) and "the" not in short and "by" not in short
    assert short["storm"] == 2.0 and long["storm"] == 4.0
    plain = StreamVectorizer(**options)
    expected = plain.partial_fit_transform([article])
    assert long == dict(zip([plain.vocabulary_.terms[v] for v in expected.indices], expected.data, strict=True))
    columns = np.arange(len(vectorizer.vocabulary_.terms))
    assert set(np.array(vectorizer.vocabulary_.terms)[vectorizer.is_common(columns)]) == set(short) - set(long)
    # What is kept is never evidence.
    assert [t.surface for t in vectorizer.tokens(headline)] == [t.surface for t in plain.tokens(headline)]
    assert set(vectorizer.surface_forms([headline])[0].values()) == set(plain.surface_forms([headline])[0].values())


def test_a_long_document_is_long_to_its_last_piece():
    from firststory.text.chunks import CHUNK

    vectorizer = StreamVectorizer(language="en", weighting="count", norm=None, short=30)
    row = vectorizer.partial_fit_transform(["flood " * (CHUNK // 6) + "made again storm"])
    assert {vectorizer.vocabulary_.terms[v] for v in row.indices} == {"flood", "storm"}


def test_a_short_text_of_stop_words_has_no_terms():
    vectorizer = StreamVectorizer(language="en", weighting="count", norm=None, short=30)
    rows = vectorizer.partial_fit_transform(["What were they doing there again?", "They closed it again", "with from"])
    assert np.diff(rows.indptr).tolist()[::2] == [0, 0] and rows[1].nnz > 1


def test_pruning_keeps_what_it_is_told_to_whatever_the_number():
    v = StreamVectorizer(language="en").fit(["storm flood quake", "storm fire", "storm fire"])
    assert v.prune(2, keep=np.array([1, 2])).old_to_new.tolist() == [-1, 0, 1, -1]
    v = StreamVectorizer(language="en").fit(["storm flood quake", "storm fire", "storm fire"])
    assert v.prune(min_df=2, keep=np.array([2])).old_to_new.tolist() == [0, -1, 1, 2]
