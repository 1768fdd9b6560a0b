"""The arrays of the alerts by what they are about: what the kernels take."""

from __future__ import annotations

from typing import NamedTuple

from firststory.arrays import Flags, Floats, Ints, Singles, Slots

FADING_FRESH, FADING_OLD = 0, 1
"""Rows of the histogram of link strengths: links to fresh and to old documents."""

N_TURN_TERMS = 5
"""Terms of a turn that are told."""


class StepRows(NamedTuple):
    """The documents of a step, in the order of the stream."""

    indptr: Ints
    columns: Ints
    weights: Floats
    in_title: Flags
    """Whether a term stands in the title; false everywhere where there is no title apart from the text."""
    clock: Floats
    """Seconds, never falling."""
    source: Ints
    """The number of the source, -1 where there is none."""
    previous: Ints
    """The ordinal of the story's document before this one, -1 where there is none."""
    is_settled: Flags
    """Whether its story was alerted already: it is not confirmed again."""
    alerted: Floats
    """When its story was last alerted, or turned; -inf where it never was."""


class Rule(NamedTuple):
    """The numbers of the rule; `firststory.alerts.events` tells what they are for."""

    max_documents: int
    index_seconds: float
    watch_seconds: float
    least_watch_seconds: float
    day_seconds: float
    by_text: bool
    """Whether every text counts as a voice, not every source."""
    false_alerts: float
    false_turns: float
    """Alerts and turns per day that chance may bring."""
    price: float
    turn_price: float
    """The scores that the ladders ask for; infinite where the ceiling is spent."""
    told_seconds: float
    """How far back the documents lie that an alert tells of."""


class Facts(NamedTuple):
    """What is known of each remembered document, by slot."""

    born: Floats
    source: Ints
    previous: Ints
    background: Floats
    """Links to documents from before the watch, one per source and day."""
    has_voice: Flags
    """False for duplicates: they prove nothing."""
    strongest: Floats
    """Its strongest link to another voice within the watch."""
    is_echoed: Flags
    """Whether another voice followed within the watch."""
    n_named: Ints
    """How many of its terms, the first of its row, are title or heaviest terms."""
    link_start: Ints
    link_count: Ints


class Links(NamedTuple):
    """Each document's links to earlier ones: `ordinals[start : start + count]`, in the order of arrival."""

    ordinals: Ints
    similarities: Singles
    tail: Ints
    """One number: the end of the used part."""


class Learnt(NamedTuple):
    """What the stream has taught."""

    threshold: Floats
    """One number: the least similarity of a link."""
    histogram: Floats
    """Fading counts of similarities by hundredths: links to fresh documents, links to old ones."""
    seen: Ints
    """One number: documents that the histogram saw."""
    moments: Floats
    """Fading count, sum and sum of squares of the background of a week."""
    opening_share: Floats
    """One number: the share of documents that open a story, lately."""


class Scratch(NamedTuple):
    """Room to work in; all zero before and after."""

    dots: Floats
    touched: Ints
    mark: Slots
    past: Slots
    place: Slots


class Found(NamedTuple):
    """What each document of the step brought."""

    score: Floats
    """-log10 of the probability that chance brings as many voices; 0 where it proves nothing."""
    voices: Ints
    nearest: Floats
    """Its largest similarity to an earlier document."""
    is_opener: Flags
    """Whether it has no link at all and is no duplicate."""
    per_day: Floats
    """Documents per day, lately."""
    opened_per_day: Floats
    """Stories opened per day, lately: so many tests are made."""
    background: Floats
    """The mean background of the core."""
    turn_score: Floats
    """For each of the turn's terms, -log10 of the probability that as many sources use it; best first, 0: none."""
    turn_terms: Ints
    turn_voices: Ints
