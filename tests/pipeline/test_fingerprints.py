"""Fingerprints: the quick ways for ASCII agree with the definition."""

from __future__ import annotations

import unicodedata

import regex
from hypothesis import example, given
from hypothesis import strategies as st

from firststory.pipeline.fingerprints import fingerprint, hash_of

PIECES = [
    "Flood in Bremen", "RT @x: ", "via @news", "http://t.co/a", "WWW.bbc.com", " ", "\n", "\x1c", "“", "…", "\u00a0",
    "Straße", "#tag", "a@b.de", "ﬁre", "é", "İ", "x" * 320, "!", "https", "ΑΣ",
]  # fmt: skip


def words(text):
    """The definition, one step after the other."""
    plain = text.casefold()
    for sign in "“”‘’–—…\u00a0":
        plain = plain.replace(sign, " ")
    plain = regex.sub(r"https?://\S+|www\.\S+", " ", plain)
    plain = regex.sub(r"^\s*(?:rt|via)\s+@\w+:?\s*", "", plain)
    return regex.sub(r"[^\p{L}\p{N}\p{M}#]+", " ", unicodedata.normalize("NFKC", plain).casefold()).strip()


@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
@example("\x1cRT @x: flood")
def test_the_quick_way_is_the_definition(text):
    assert fingerprint(text) == hash_of(words(text) or text)
