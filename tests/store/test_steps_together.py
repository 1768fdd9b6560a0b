"""Steps written at once leave the store that each of them leaves by itself, one after the other."""

from __future__ import annotations

import random

import pytest

from firststory.records import Alert, Document, Position, Quarantined, Storyline, Topic, TopicEvent
from firststory.store.step_to_write import About, StepToWrite, Threshold
from firststory.store.store import Store
from store.made import NOON, step, story, verdict

N_STEPS = 24


def storyline(name, **changes):
    values = {"id": name, "title": "T", "first_seen": NOON, "last_seen": NOON, "size": 1, "n_stories": 1}
    return Storyline(**(values | changes))


def alert(n, story, line):
    shown = Document(f"d{n}", "")
    return Alert(f"a{n}", "turn", shown, shown, NOON, None, (f"d{n}",), (), (), story, line, 1.0, "It fired.")


def made_steps(seed):
    """Stories and storylines are told again and again and merged into one another; some steps bring nothing."""
    dice = random.Random(seed)
    stories, lines = [f"s{n}" for n in range(12)], [f"l{n}" for n in range(5)]
    merged_stories, merged_lines = {}, {}
    n = 0
    for index in range(N_STEPS):
        names = [f"d{n + i}" for i in range(dice.choice((0, 1, 3, 7)))]
        n += len(names)
        told = {one: {"size": index, "storyline": dice.choice([*lines, None])} for one in dice.sample(stories, 3)}
        told_lines = {one: {"size": index} for one in dice.sample(lines, 2)}
        for all_of, gone, telling in ((stories, merged_stories, told), (lines, merged_lines, told_lines)):
            standing = [one for one in all_of if one not in gone]
            if dice.random() < 0.4 and len(standing) > 2:
                one, into = dice.sample(standing, 2)
                gone[one] = into
                telling[one] = telling.get(one, {}) | {"status": "merged", "merged_into": into, "reason": "alike"}
                if dice.random() < 0.3:  # and what it went into is merged in the same step
                    last = next(other for other in standing if other not in (one, into))
                    gone[into] = last
                    telling[into] = telling.get(into, {}) | {"status": "merged", "merged_into": last}
        verdicts = tuple(
            verdict(one, story=dice.choice([*stories, None]), duplicate_of=dice.choice([None, "d0"])) for one in names
        )
        fired = tuple(alert(int(one[1:]), dice.choice(stories), dice.choice(lines)) for one in names[:2])
        bad = Position("fi\udce9le", {"line": index})
        changes = {
            "verdicts": verdicts,
            "fingerprints": tuple(2**64 - dice.randrange(5) - 1 for _ in names),
            "stories": tuple(story(one, **values) for one, values in told.items()),
            "storylines": tuple(storyline(one, **values) for one, values in told_lines.items()),
            "alerts": fired,
            "topics": (Topic(f"t{index % 3}", (("flood", 0.5),), 0.2),) if index % 2 else (),
            "topic_events": (TopicEvent(index, "born", "t1"), TopicEvent(index, "faded", "t2"))
            if index % 5 == 1
            else (),
            "quarantined": (Quarantined("bad", "why", bad, "x\0"),) if index % 4 == 3 else (),
            "positions": (Position(dice.choice(["one", "two"]), {"offset": index}), bad),
            "counts": {"seen": len(names), f"kind{index % 2}": 1},
        }
        about = About(
            reached=index,
            threshold=Threshold(0.5, None, "so") if index % 3 else None,
            applied_feedback=(index,) if index in (3, 4) else (),
            vector_dimensions=dice.choice([None, index]),
            alerts_status=dice.choice([None, {"ceiling": index}]),
        )
        yield StepToWrite(step(index, **changes), about, b"model %d" % index if index % 6 == 5 else None)


def written(url, groups, judged):
    with Store(url) as store:
        begin = 0
        for size in groups:
            if begin < len(judged):
                store.write_steps(judged[begin : begin + size])
                begin += size
            if begin == 3:
                for _ in range(4):
                    store.add_feedback(judged_document(judged[:3]), True)
        assert begin >= len(judged)
        found = store.search("text", 5)
        return store.dump(state=True), [one.document.id for one in found], store.saved_steps()


def judged_document(judged):
    return next(verdict.document.id for one in judged for verdict in one.step.verdicts)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("groups", [[3, 10, 10, 10], [3, 2, 7, 1, 4, 30]], ids=str)
def test_as_if_each_had_been_written_by_itself(new_store, seed, groups):
    judged = list(made_steps(seed))
    assert written(new_store("together"), groups, judged) == written(new_store("single"), [1] * N_STEPS, judged)


def test_all_of_them_or_nothing(new_store):
    with Store(new_store()) as store:
        store.write_steps([StepToWrite(step(0, "d1")), StepToWrite(step(1, "d2"))])
        before = store.dump()
        with pytest.raises(Exception, match=r"(?i)unique"):
            store.write_steps([StepToWrite(step(2, "d3")), StepToWrite(step(3, "d4", "d2"))])
        assert store.dump() == before and store.last_step() == 1
