"""The mapped model of languages says what py3langid's own says, to the last bit."""

from __future__ import annotations

import numpy as np
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from firststory.text import language_model

TEXTS = (
    "Storm floods the harbour",
    "Der Hafen ist wieder offen",
    "Гавань снова открыта",
    "港が再開",
    "",
    "12 %",
    "UPPER CASE",
)


def test_the_answers_are_the_same_before_and_after_its_memory_was_let_go():
    theirs = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    ours, let_go = language_model.load_identifier()
    assert isinstance(ours.nb_ptc, np.memmap)
    for _ in range(2):
        assert [ours.rank(text) for text in TEXTS] == [theirs.rank(text) for text in TEXTS]
        let_go()


def test_a_model_of_another_layout_is_left_to_py3langid(monkeypatch):
    monkeypatch.setattr(language_model, "_mapped", lambda path: {})
    identifier, let_go = language_model.load_identifier()
    let_go()
    assert identifier.classify("The harbour is open again")[0] == "en"
