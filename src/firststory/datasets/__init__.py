"""Corpora with checksums, and streams with planted answers.

The package carries no corpus. A loader looks in `data_home`, else in the folder named by the environment variable
FIRSTSTORY_DATA, else in the user's cache; what it finds must have the known checksum.
"""

from __future__ import annotations

from firststory.datasets.corpora import (
    load_articles,
    load_crisislex,
    load_gitbugs_hadoop,
    load_headlines,
    load_healthtweets,
    load_localnews,
    load_mstream_tweets,
    load_newsgroups20,
    load_nips,
    load_openoffice_duplicates,
    load_reuters21578,
    load_tdt2,
    load_timeline17,
    load_wcep,
)
from firststory.datasets.editor import CoveredEvent, EditorLabels, JudgedDocument, load_editor_labels
from firststory.datasets.labelled import read_labelled
from firststory.datasets.news2017 import load_news2017
from firststory.datasets.streams import CountStream, TextStream
from firststory.datasets.synthetic import make_story_stream

__all__ = [
    "CountStream",
    "CoveredEvent",
    "EditorLabels",
    "JudgedDocument",
    "TextStream",
    "load_articles",
    "load_crisislex",
    "load_editor_labels",
    "load_gitbugs_hadoop",
    "load_headlines",
    "load_healthtweets",
    "load_localnews",
    "load_mstream_tweets",
    "load_news2017",
    "load_newsgroups20",
    "load_nips",
    "load_openoffice_duplicates",
    "load_reuters21578",
    "load_tdt2",
    "load_timeline17",
    "load_wcep",
    "make_story_stream",
    "read_labelled",
]
