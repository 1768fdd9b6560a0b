"""One space between words, as `bytes.split` and `join` have it."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.kernels.text.words import single_spaced


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab #", max_size=30))
def test_it_is_split_and_join(text):
    found = single_spaced(np.frombuffer(text.encode("ascii"), dtype=np.uint8))
    assert found.tobytes() == b" ".join(text.encode("ascii").split())
