"""Is a great event born as a topic? Topics that are storylines beside topics of online NMF."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from firststory import datasets
from firststory.datasets.streams import TextStream
from firststory.lab.experiments.covered_events import events_of_editor
from firststory.lab.experiments.event_streams import head
from firststory.pipeline.build import build_core
from firststory.pipeline.rows import unit_rows, without_common
from firststory.records import Batch, Document
from firststory.settings import load
from firststory.text.vectorizer import StreamVectorizer
from firststory.topics.online_nmf import OnlineNMF

TITLE = "Births of topics"

TEXT = """\
Streams in which it is known when something great began: {tweets} tweets of 26 crises in several languages (CrisisLex,
one after the other, each a good part of the stream while it lasts), and {headlines} headlines from 1 October 2018 on, with the
events that an editor listed (those with {least} documents or more within three days can be topics). Topics are looked
at every {step} documents. A birth is that of an event if at least half of the topic's documents, among the {window}
before and the {window} behind it, tell of the event; the first such birth counts, later ones are *repeated*, all others
are *other*. An event that is told before the first look cannot be born. *Delay*: documents of the stream from the event's
tenth document to the look at which its topic is born. *grown*: the event's storyline was there before, and became a topic
with it. *storylines* are the default; *nmf* is `OnlineNMF(20, memory=3)` with `birth="replace"` or `"add"`. The share
from which on a storyline is a topic was chosen on these streams, so this is no test on fresh ones.

{table}

{verdict} On tweets *other* births are mistakes or tweets without a label; the editor's list is not complete,
so there they may be events too. The latest births of storylines on headlines:

{births}
"""

STEP, WINDOW = 200, 1_000
LEAST = 20
"""Documents of an event that can be a topic: 2 % of the window."""


class Birth(NamedTuple):
    """A topic begins."""

    document: int
    """How many documents there were by then."""
    topic: str
    kind: str
    evidence: str = ""


class Followed(NamedTuple):
    """The topics of a stream."""

    topic_of: Sequence[str | None]
    """Of each document."""
    births: Sequence[Birth]


class Count(NamedTuple):
    """How the births agree with what happened."""

    events: int
    born: int
    grown: int
    delay: float
    repeated: int
    other: int


def run(*, quick: bool, out: Path) -> str:
    """The table of both streams and both kinds of topics."""
    streams = {"tweets": datasets.load_crisislex(), "headlines": head()}
    if quick:
        streams = {name: TextStream(one.name, one.documents[:4_500]) for name, one in streams.items()}
    labels = datasets.load_editor_labels()
    truths: dict[str, list[set[str]]] = {
        "tweets": [{str(one.label)} if one.label else set() for one in streams["tweets"].documents]
    }
    told = events_of_editor(streams["headlines"], labels).by_document
    truths["headlines"] = [
        {str(event.name) for event in told.get(one.id, ())} for one in streams["headlines"].documents
    ]
    rows, counts = [], {}
    latest: list[Birth] = []
    kinds: dict[str, Callable[[Sequence[Document]], Followed]] = {
        "storylines": by_storylines,
        "nmf, replace": partial(by_nmf, birth="replace"),
        "nmf, add": partial(by_nmf, birth="add"),
    }
    for name, events in truths.items():
        for kind, follow in kinds.items():
            followed = follow(streams[name].documents)
            counts[name, kind] = count = judge(followed, events)
            delay = "–" if np.isnan(count.delay) else f"{count.delay:.0f}"
            rows.append(
                f"| {name} | {kind} | {count.events} | {count.born} | {count.grown} | {delay} | {count.repeated} "
                f"| {count.other} |"
            )
            latest = list(followed.births)[-10:] if (name, kind) == ("headlines", "storylines") else latest
    table = "| stream | topics | events | born | grown | median delay | repeated | other |\n|---|---|---|---|---|---|---|---|\n"
    return TEXT.format(
        **{name: f"{len(stream):,}" for name, stream in streams.items()}, least=LEAST, step=STEP, window=f"{WINDOW:,}",
        table=table + "\n".join(rows), verdict=verdict(counts),
        births="\n".join(f"- {birth.kind}: {birth.evidence}" for birth in latest),
    )  # fmt: skip


def verdict(counts: Mapping[tuple[str, str], Count]) -> str:
    """Which kind of topics has more events among its births."""
    said = []
    for name in dict.fromkeys(stream for stream, _ in counts):
        lines, nmf = counts[name, "storylines"], counts[name, "nmf, replace"]
        found = [one.born + one.grown for one in (lines, nmf)]
        better = "Storylines are better" if found[0] > found[1] else "NMF is better" if found[1] > found[0] else "Equal"
        said.append(f"**{better}** on {name}: {found[0]} of {lines.events} events begin a topic, by NMF {found[1]}.")
    return " ".join(said)


def judge(followed: Followed, events: Sequence[set[str]]) -> Count:
    """Births against the events that each document tells of."""
    places: dict[str, list[int]] = {}
    for i, names in enumerate(events):
        for name in names:
            places.setdefault(name, []).append(i)
    # What is told before the first look is there from the start.
    can_be = {name: told[9] for name, told in places.items() if len(told) >= LEAST and told[9] >= STEP}
    found: dict[str, tuple[str, int]] = {}
    repeated = other = 0
    for birth in followed.births:
        near = range(max(birth.document - WINDOW, 0), min(birth.document + WINDOW, len(events)))
        own = [i for i in near if followed.topic_of[i] == birth.topic]
        told = Counter(name for i in own for name in sorted(events[i]))
        name, n = max(told.items(), key=lambda pair: (pair[1], pair[0]), default=("", 0))
        if 2 * n < len(own) or not own or name not in places:
            other += 1
        elif name in found or name not in can_be:
            repeated += 1
        else:
            found[name] = birth.kind, birth.document - can_be[name]
    kinds = Counter(kind for kind, _ in found.values())
    delay = float(np.median([late for _, late in found.values()])) if found else float("nan")
    return Count(len(can_be), kinds["born"], kinds["grown"], delay, repeated, other)


def by_storylines(documents: Sequence[Document]) -> Followed:
    """The topics that the pipeline tells; which document belongs to which is what is known in the end."""
    core = build_core(load({"step": 100, "topics": "storylines", "topic_step": STEP}))
    story_of: dict[str, str | None] = {}
    line_of: dict[str, str | None] = {}
    into: dict[str, str] = {}
    births, n = [], 0
    for index, block in enumerate(_blocks(documents, 100)):
        step = core.step(Batch(index, tuple(block)))
        n += len(block)
        story_of.update({one.document.id: one.story for one in step.verdicts})
        for story in step.stories:
            line_of[story.id] = story.storyline
        into.update({one.id: one.merged_into for one in step.stories if one.merged_into})
        into.update({one.id: one.merged_into for one in step.storylines if one.merged_into})
        births += [
            Birth(n, event.topic, event.kind, event.evidence)
            for event in step.topic_events
            if event.kind in ("born", "grown") and not event.evidence.endswith("there from the start")
        ]

    def last(name: str | None) -> str | None:
        while name is not None and name in into:
            name = into[name]
        return name

    stories = [last(story_of.get(document.id)) for document in documents]
    topics = [last(line_of.get(story)) if story else None for story in stories]
    return Followed(topics, [birth._replace(topic=last(birth.topic) or birth.topic) for birth in births])


def by_nmf(documents: Sequence[Document], birth: str) -> Followed:
    """Topics of online NMF; a document belongs to the one that explains most of it when it is learnt."""
    vectorizer, model = (
        StreamVectorizer(weighting="count", norm=None),
        OnlineNMF(memory=3.0, birth=birth, random_state=0),
    )
    topic_of: list[str | None] = [None] * len(documents)
    births: list[Birth] = []
    pending: list[sp.csr_matrix] = []
    places: list[int] = []
    for number, block in enumerate(_blocks(documents, 100)):
        _, counts = vectorizer.partial_fit_with_counts([document.text for document in block])
        present = np.flatnonzero(np.diff(counts.indptr) > 0)
        pending.append(without_common(unit_rows(counts[present], vectorizer), vectorizer))
        places += (100 * number + present).tolist()
        if len(places) < STEP:
            continue
        width = max(rows.shape[1] for rows in pending)
        for rows in pending:
            rows.resize(rows.shape[0], width)
        learnt = sp.vstack(pending, format="csr")
        model.partial_fit(learnt)
        mass = model.transform(learnt) * model.components_.sum(axis=1)
        for place, topic, weight in zip(places, mass.argmax(axis=1).tolist(), mass.max(axis=1).tolist(), strict=True):
            topic_of[place] = model.lineage_.ids[topic] if weight > 0.0 else None
        if model.lineage_.step > 0:
            births += [
                Birth(100 * number + len(block), event.topic, "born")
                for event in model.last_events()
                if event.kind in ("born", "split")
            ]
        pending, places = [], []
    return Followed(topic_of, births)


def _blocks(documents: Sequence[Document], size: int) -> Iterator[Sequence[Document]]:
    for begin in range(0, len(documents), size):
        yield documents[begin : begin + size]
