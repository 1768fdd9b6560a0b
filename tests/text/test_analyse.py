"""Words of all kinds of writing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.text import StreamVectorizer
from firststory.text.analyse import Analyser, Rules, is_marked, normal
from firststory.text.language import stop_words


def terms(text, language=None, **options):
    v = StreamVectorizer(language=language, **options).fit([text])
    return [token.term for token in v.tokens(text)]


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Bridges collapsed, 1,000 dead", "en", ["bridg", "collaps", "1000", "dead"]),
        ("up 3.5% by 2026-11-15 at 10:30 a.m.", "en", ["3.5", "2026-11-15", "10:30"]),
        ("1,000,000 1.000.000 1000000 1,5 12,34", None, ["1000000"] * 3 + ["1,5", "12,34"]),
        ("U.S. and U.N. envoys", "en", ["u.s.", "u.n.", "envoy"]),
        ("don't can’t it's the mayor's", "en", ["mayor"]),
        ("l'école d'été", "fr", ["écol"]),
        ("dell'arte", "it", ["arte"]),
        ("UN UK EU million fire", "en", ["un", "uk", "eu", "million", "fire"]),
        ("cafe\u0301 café CAFÉ", None, ["café"] * 3),
        ("Ｔｏｋｙｏ ﬁre", None, ["tokyo", "fire"]),
        ("fo\u200bo b\u00ada\u202er n\x00ul\ufeff", None, ["foo", "bar", "nul"]),
        ("١٢٣ १२३ 123", None, ["123"] * 3),
        ("İstanbul ISPARTA", "tr", ["istanbul", "ıspar"]),
        ("İstanbul istanbul", None, ["istanbul"] * 2),
        ("Пари\u0301жем Парижем", "ru", ["париж"] * 2),
        ("שָׁלוֹם שלום", "he", ["שלום"] * 2),
        ("كِتَاب كتاب", None, ["كتاب"] * 2),
        ("प्रधानमंत्री हिन्दी", None, ["प्रधानमंत्री", "हिन्दी"]),
        ("대한민국 정부", None, ["대한민국", "정부"]),
        ("storm 🌪️ 👩‍👩‍👧 1️⃣ hits", None, ["storm", "hits"]),
        ("x&amp;y AT&amp;T tea&nbsp;time", None, ["at", "tea", "time"]),
    ],
)
def test_terms(text, language, expected):
    assert terms(text, language) == expected


def test_hashtags_are_words_also_in_camel_case():
    assert terms("#flood #StormDamage #NASA #flood_2013", "en") == [
        "flood", "stormdamag", "storm", "damag", "nasa", "flood", "2013",
    ]  # fmt: skip


def test_addresses_and_names_by_choice():
    text = "@bbc says: https://www.BBC.co.uk/news/1?x=y and www.cnn.com."
    assert terms(text, "en") == []
    assert terms(text, "en", urls="host", mentions="keep") == ["@bbc", "bbc.co.uk", "cnn.com"]


def test_stop_words_of_ones_own_are_spelt_as_one_likes():
    assert terms("Don’t STORM café x-ray", None, stop_words=["DON'T", "Cafe\u0301"]) == ["storm", "ray"]
    assert terms("STORM flood", None, stop_words=["Storm"], token_rule="plain") == ["flood"]


def test_capitals_and_digits_weigh_more():
    v = StreamVectorizer(language=None, weighting="count", norm=None, surface_weight=2.0)
    row = v.fit_transform(["Paris paris PARIS 3rd #Paris dog 東京"]).toarray()[0]
    assert dict(zip(v.get_feature_names_out(), row, strict=True)) == {"paris": 7.0, "3rd": 2.0, "dog": 1.0, "東京": 1.0}
    assert not is_marked("")


@settings(max_examples=150, deadline=None)
@given(st.text(min_size=1, max_size=20))
def test_a_spelling_is_settled_at_once(surface):
    assert normal(surface) == normal(surface)
    assert normal(normal(surface)) == normal(normal(normal(surface)))


def test_stems_in_bulk_equal_stems_one_by_one():
    analyser = Analyser(Rules(False, "en", stop_words("en"), True, 2, "drop", "drop"))
    words = ["Running", "the", "ponies", "#ClimateStrike", "café's", "1,234"]
    kinds = [0, 0, 0, 1, 0, 0]
    assert analyser.terms(words, kinds) == [
        analyser.terms([w], [kind])[0] for w, kind in zip(words, kinds, strict=True)
    ]
