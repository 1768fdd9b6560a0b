"""A small store whose digest can be worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from firststory.records import Alert, Document, Step, Story, Storyline, Verdict
from firststory.store.store import Store

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
SINCE = NOON - timedelta(hours=12)


def document(name, hours, source, title=None, **changes):
    """A document that came some hours after noon."""
    values = {"title": title or f"Report {name}", "source": source, "url": f"https://example.org/{name}"}
    return Document(name, f"Text of {name}", **{"time": NOON + timedelta(hours=hours), **values, **changes})


def alert(name, kind, first, headline, fired, sources, story, **changes):
    return Alert(**{
        "id": name, "kind": kind, "first": first, "headline": headline, "fired_at": NOON + timedelta(hours=fired),
        "delay": timedelta(hours=1), "documents": (first.id, headline.id), "sources": sources, "terms": ("flood",),
        "story": story, "storyline": "l1", "score": 3.0,
        "sentence": f"Told by {len(sources)} sources within 1.0 hours; first seen here: {first.source}, 10:00.",
        **changes,
    })  # fmt: skip


def story(name, title, documents, **changes):
    times = [one.time for one in documents]
    return Story(**{
        "id": name, "title": title, "first_seen": min(times), "last_seen": max(times), "size": len(documents),
        "representative": documents[0].id, "sources": tuple(sorted({one.source for one in documents})),
        "key_terms": ("flood", "bridge"), "storyline": "l1", **changes,
    })  # fmt: skip


FLOOD = [document(f"f{n}", n, source) for n, source in ((-3, "AP"), (-2, "dpa"), (-1, "Reuters"), (0, "AP"))]
TRIAL = [document(f"t{n}", n, source) for n, source in ((-40, "AP"), (-5, "dpa"), (-4, "AP"))]
VOTE = [document(f"v{n}", n, source) for n, source in ((-30, "AP"), (-20, "dpa"), (-6, "AP"), (-5, "dpa"), (-4, "BBC"))]
SERIAL = [document(f"x{n}", n, "One Paper") for n in (-6, -5, -4)]
QUIET = [document("q1", -2, "BBC")]
OLD = [document("o1", -60, "AP"), document("o2", -59, "dpa")]
STORIES = {"s1": FLOOD, "s2": TRIAL, "s3": VOTE, "s4": SERIAL, "s5": QUIET, "s6": OLD}
AGAIN = document("f-again", -0.5, "Gazette", "Report f-3")
"""The text of the first report once more."""
ALERTS = (
    alert("a1", "confirmed", OLD[0], OLD[1], -59, ("AP", "dpa"), "s6"),
    alert("a2", "first_seen", FLOOD[0], FLOOD[0], -3, ("AP",), "s1"),
    alert("a3", "confirmed", FLOOD[0], FLOOD[1], -2, ("AP", "dpa"), "s1"),
    alert("a4", "turn", TRIAL[1], TRIAL[2], -4, ("dpa", "AP"), "s2"),
    alert("a5", "confirmed", FLOOD[0], FLOOD[2], -1, ("AP", "dpa", "Reuters"), "s1"),
    alert("a6", "turn", FLOOD[2], FLOOD[3], 0, ("Reuters", "AP", "dpa", "BBC"), "s1"),
    alert("a7", "first_seen", QUIET[0], QUIET[0], -2, ("BBC",), "s5", score=0.5),
    alert("a8", "first_seen", VOTE[4], VOTE[4], -4, ("BBC",), "s3", score=0.9),
)


def write(path, **changes):
    """The store of all this, in two steps."""
    verdicts = [Verdict(one, 0.5, 0.5, False, story=name) for name, documents in STORIES.items() for one in documents]
    verdicts.append(Verdict(AGAIN, 0.0, 1.0, False, story="s1", duplicate_of="f-3"))
    verdicts.sort(key=lambda one: one.document.time)
    told = tuple(story(name, f"Story of {name}", documents) for name, documents in STORIES.items())
    merged = story("s7", "A flood too", FLOOD[:1], status="merged", merged_into="s1", reason="the same flood")
    line = Storyline("l1", "Floods of the north", NOON - timedelta(days=9), NOON, 30, 6, ("AP", "dpa"))
    early = [one for one in verdicts if one.document.time < SINCE]
    late = [one for one in verdicts if one.document.time >= SINCE]
    with Store(str(path)) as store:
        store.write_step(Step(0, tuple(early), alerts=ALERTS[:1], stories=told[5:]))
        store.write_step(Step(1, tuple(late), alerts=ALERTS[1:], stories=(*told[:5], merged), storylines=(line,)))
    return path
