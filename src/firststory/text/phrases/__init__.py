"""Phrases that people read: whole names, figures with their unit and runs of words, learnt from the stream itself.

`PhraseReader` reads and learns; `choose_evidence` chooses what says what is new; `telling_sentence` and `TopicLabels`
say what a burst or a topic is about. Nothing here is loaded before it is used.
"""

from __future__ import annotations

from firststory.text.phrases.boilerplate import boilerplate_spans, without_boilerplate
from firststory.text.phrases.evidence import choose_evidence
from firststory.text.phrases.labels import TopicLabels
from firststory.text.phrases.reader import PhraseReader
from firststory.text.phrases.records import Phrase, Report
from firststory.text.phrases.sentences import telling_sentence

__all__ = [
    "Phrase",
    "PhraseReader",
    "Report",
    "TopicLabels",
    "boilerplate_spans",
    "choose_evidence",
    "telling_sentence",
    "without_boilerplate",
]
