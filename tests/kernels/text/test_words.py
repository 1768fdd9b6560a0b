"""One space between words, as `bytes.split` and `join` have it."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.kernels.text.words import single_spaced, spaced_words


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab #", max_size=30))
def test_it_is_split_and_join(text):
    found = single_spaced(np.frombuffer(text.encode("ascii"), dtype=np.uint8))
    assert found.tobytes() == b" ".join(text.encode("ascii").split())


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="aB \u2019.hw", max_size=30), st.sampled_from(["", "\u00e9", "@", "\uffff", "http", "www"]))
def test_letters_are_looked_up_on_the_way(text, other):
    letters = np.zeros(0x2020, dtype=np.uint8)
    for sign, letter in zip("aB \u2019.htpw", b"ab   htpw", strict=True):
        letters[ord(sign)] = letter
    codes, out = np.array([ord(one) for one in text + other], dtype=np.uint16), np.empty(40, dtype=np.uint8)
    n = spaced_words(codes, letters, out)
    plain = text.lower().replace("\u2019", " ").replace(".", " ")
    assert n == -1 if other or "www" in text else out[:n].tobytes().decode() == " ".join(plain.split())
