"""How voices are counted, against the definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from firststory.alerts.events.voices import FEW_SOURCES, LEAST_DOCUMENTS, MAIN_SHARE, Voices

SOURCES = st.lists(st.sampled_from([-1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2]), max_size=80)


@settings(max_examples=100, deadline=None)
@given(SOURCES, SOURCES, st.booleans())
def test_texts_count_where_hardly_any_source_does(earlier, latest, has_one_source):
    if has_one_source:
        earlier, latest = [0] * len(earlier), [0] * len(latest)
    every = [*earlier, *latest]
    named = [source for source in every if source >= 0]
    main = max((named.count(source) for source in set(named)), default=0)
    few = len(named) >= LEAST_DOCUMENTS and len(set(named)) < FEW_SOURCES and main > MAIN_SHARE * len(every)
    voices = Voices()
    voices.by_text = not few
    voices.decide(np.array(latest, dtype=np.int64), lambda: np.array(earlier, dtype=np.int64))
    assert voices.by_text is few
