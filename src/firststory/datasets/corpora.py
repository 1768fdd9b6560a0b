"""The research corpora that we measure on, one short loader each."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from firststory.datasets.home import find
from firststory.datasets.labelled import read_labelled
from firststory.datasets.streams import CountStream, TextStream

Home = str | os.PathLike[str] | None


def load_tdt2(data_home: Home = None) -> CountStream:
    """TDT2, the 30 largest topics: 9,394 dated stories of 1998 as counts over 36,771 words; no word list exists.

    In date order, shuffled within a day: the order inside a day carries nothing.
    """
    X = sp.load_npz(find("tdt2_30_sorted.npz", data_home)).astype(np.float64)
    with np.load(find("tdt2_30_sorted_meta.npz", data_home), allow_pickle=False) as meta:
        days = meta["date"].astype("datetime64[s]").astype(np.float64)
        labels = meta["label"].astype(np.int64)
    return CountStream("tdt2", sp.csr_matrix(X), days, labels)


def load_nips(data_home: Home = None) -> CountStream:
    """NIPS full papers (UCI bag of words): 1,500 x 7,605 counts, no times, no labels."""
    X = sp.load_npz(find("uci_nips_bow.npz", data_home)).astype(np.float64)
    words = find("uci_nips_bow_vocab.txt", data_home).read_text(encoding="utf-8").split("\n")
    return CountStream("nips", sp.csr_matrix(X), None, None, tuple(words[: X.shape[1]]))


def load_reuters21578(data_home: Home = None) -> TextStream:
    """Reuters-21578: 21,577 newswire stories of 1987, of which 11,367 carry one or more of 120 topics."""
    return read_labelled(find("reuters21578.jsonl.gz", data_home), "reuters21578")


def load_newsgroups20(data_home: Home = None, *, cross_posts: bool = False) -> TextStream:
    """20 Newsgroups with dates (1992-1993); cross-posts are dropped after the first unless asked for."""
    stream = read_labelled(find("newsgroups20_19997_dated.jsonl.gz", data_home), "newsgroups20")
    if cross_posts:
        return stream
    seen: set[str] = set()
    kept = []
    for document in stream.documents:
        message = document.extra.get("msgid")
        if message is None or message not in seen:
            kept.append(document)
        if message is not None:
            seen.add(message)
    return replace(stream, documents=tuple(kept))


def load_timeline17(data_home: Home = None) -> TextStream:
    """Timeline17: 2,864 news stories on 8 events, 2005-2012, dated by day."""
    return read_labelled(find("timeline17_8topics.jsonl.gz", data_home), "timeline17")


def load_localnews(data_home: Home = None) -> TextStream:
    """Local news on single incidents, 2013-2016: 2,922 articles, 1,754 incidents, dated by day."""
    return read_labelled(find("localnews_incidents.jsonl.gz", data_home), "localnews")


def load_healthtweets(data_home: Home = None) -> TextStream:
    """63,326 tweets of 16 health news accounts, 2011-2015."""
    return read_labelled(find("healthtweets.jsonl.gz", data_home), "healthtweets")


def load_headlines(data_home: Home = None) -> TextStream:
    """121,054 headlines, March 2018 to February 2019: short texts, large volume."""
    return read_labelled(find("thisisallabout_headlines.jsonl.gz", data_home), "headlines")


def load_articles(data_home: Home = None) -> TextStream:
    """28,693 articles of winter 2018-19; bodies lower-cased, stop words removed, cut at 400 tokens."""
    return read_labelled(find("thisisallabout_articles.jsonl.gz", data_home), "articles")


def load_mstream_tweets(data_home: Home = None) -> TextStream:
    """30,322 tweets of 2011 on 269 topics in order of arrival, without times; lower-cased, cleaned and cut short.

    Dense: few topics, many texts on each.
    """
    return read_labelled(find("mstream_tweets.jsonl.gz", data_home), "mstream_tweets")


def load_crisislex(data_home: Home = None) -> TextStream:
    """27,932 tweets on 26 crises of 2012 and 2013 in several languages; 3,352 carry no label.

    The times run evenly over the span: the crises were collected one by one, and silence between them would betray
    the first tweet of each.
    """
    return read_labelled(find("crisislex_sample.jsonl.gz", data_home), "crisislex")


def load_wcep(data_home: Home = None, *, events: bool = False) -> TextStream:
    """37,866 sentences of Wikipedia's Current Events under 12,833 headings, 2014-2025, dated by day.

    Some headings are standing topics. `events` keeps the 11,669 sentences whose heading holds a year, which names an
    event rather than a topic.
    """
    stream = read_labelled(find("wcep_stories.jsonl.gz", data_home), "wcep")
    if not events:
        return stream
    return replace(stream, documents=tuple(d for d in stream.documents if d.extra["event_like"]))


def load_gitbugs_hadoop(data_home: Home = None) -> TextStream:
    """2,503 bug reports of Hadoop, 2020-2024, labelled by declared duplicates: 63 groups, all others alone.

    With 97 % first reports, judge by AUC and by the story-weighted cost.
    """
    return read_labelled(find("gitbugs_hadoop.jsonl.gz", data_home), "gitbugs_hadoop")


def load_openoffice_duplicates(data_home: Home = None) -> TextStream:
    """4,548 bug reports of OpenOffice, 2000-2013, in 2,049 groups of duplicates; lower-cased, with long gaps.

    Reports without a duplicate are not among them.
    """
    return read_labelled(find("openoffice_dups.jsonl.gz", data_home), "openoffice_duplicates")
