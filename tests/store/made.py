"""Small steps to write into stores."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from firststory.records import Document, Evidence, Neighbour, Position, Step, Story, Term, Verdict

NOON = datetime(2026, 11, 15, 12, 0, 0, 123457, tzinfo=UTC)


def verdict(name: str, **changes) -> Verdict:
    document = Document(
        id=name,
        text=f"Text of {name}: Überschwemmung 😀",
        time=NOON + timedelta(hours=int(name[1:])),
        title=f"Title {name}",
        source="paper",
        url="https://example.org/" + name,
        label=["a", 1],
        extra={"page": 3, "nested": {"b": [1, None]}},
    )
    values = {
        "document": document,
        "novelty": 0.1 + 0.2,
        "p_value": 1 / 3,
        "is_novel": True,
        "threshold": None,
        "story": "s1",
        "duplicate_of": None,
        "evidence": Evidence(
            terms=(Term("Überschwemmung", 0.7, 12, 26),),
            nearest=(Neighbour("d0", 0.25, "Title", NOON, ("text",)),),
            kind="development",
            sentence="It adds something.",
        ),
    }
    return Verdict(**{**values, **changes})


def story(name: str, **changes) -> Story:
    values = {"id": name, "title": "T", "first_seen": NOON, "last_seen": NOON, "size": 1, "representative": "d1"}
    return Story(**{**values, **changes})


def step(index: int, *names: str, **changes) -> Step:
    values = {
        "index": index,
        "verdicts": tuple(verdict(name) for name in names),
        "positions": (Position("file", {"offset": 10 * index}),),
        "counts": {"seen": len(names)},
    }
    return Step(**{**values, **changes})
