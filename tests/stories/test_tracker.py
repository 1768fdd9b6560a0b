"""Stories: planted ones are found, ids are stable, lineage is told, memory is bounded."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np

from firststory.evaluate import b_cubed
from firststory.records import Document
from firststory.state import flatten, pack_state, unflatten, unpack_state
from firststory.stories import tracker as stories
from firststory.stories.candidate import StoryCandidate
from firststory.stories.tracker import StoryTracker

START = datetime(2020, 1, 1, tzinfo=UTC)


class Maker:
    """Candidates from bags of words, with their true nearest neighbours."""

    def __init__(self):
        self.words = {}
        self.rows = []

    def candidate(self, name, words, day=0.0, **options):
        columns = np.array(sorted({self.words.setdefault(w, len(self.words)) for w in words.split()}))
        weights = np.full(columns.size, 1 / np.sqrt(columns.size))
        mine = dict(zip(columns.tolist(), weights.tolist(), strict=True))
        near = sorted(
            ((sum(w * row.get(c, 0.0) for c, w in mine.items()), other) for other, row in enumerate(self.rows)),
            reverse=True,
        )
        self.rows.append(mine)
        time = None if day is None else START + timedelta(days=day)
        document = Document(id=name, text=words, time=time, source=options.pop("source", None))
        surfaces = {c: w.capitalize() for w, c in self.words.items() if c in mine}
        neighbours = [other for cosine, other in near[:5] if cosine > 0]
        here = len(self.rows) - 1
        return StoryCandidate(document, columns, weights, here, neighbours, surfaces=lambda: surfaces, **options)


def planted(n_stories=12, n_each=8, seed=0):
    rng = np.random.default_rng(seed)
    maker, candidates, truth = Maker(), [], []
    plan = sorted((story + 3 * rng.random(), story) for story in range(n_stories) for _ in range(n_each))
    for number, (day, story) in enumerate(plan):
        own = [f"s{story}w{w}" for w in rng.choice(12, size=8, replace=False)]
        common = [f"common{w}" for w in rng.choice(200, size=8, replace=False)]
        candidates.append(maker.candidate(f"d{number:03d}", " ".join(own + common), day))
        truth.append(story)
    return candidates, truth


def run(tracker, candidates, step=10):
    names, lineage = [], {}
    for start in range(0, len(candidates), step):
        names += [assigned.story for assigned in tracker.assign(candidates[start : start + step])]
        for story in tracker.end_step().stories:
            if story.status == "merged":
                lineage[story.id] = story.merged_into
    return [follow(name, lineage) for name in names]


def follow(name, lineage):
    while name in lineage:
        name = lineage[name]
    return name


def test_planted_stories_are_found():
    candidates, truth = planted()
    assert b_cubed(truth, run(StoryTracker(), candidates)).f1 > 0.95


def test_a_story_tells_title_times_sources_size_growth_and_terms():
    maker, tracker = Maker(), StoryTracker()
    texts = ["flood bremen river", "flood bremen river dam", "flood bremen river dam army"]
    candidates = [
        maker.candidate(f"d{i}", text, float(i), source=("ard", "zdf", "ard")[i]) for i, text in enumerate(texts)
    ]
    assert [a.opened for a in tracker.assign(candidates)] == [True, False, False]
    (story,) = tracker.end_step().stories
    assert (story.id, story.size, story.sources, story.status) == ("s1", 3, ("ard", "zdf"), "open")
    assert story.first_seen == START and story.last_seen == START + timedelta(days=2)
    assert story.representative in {"d0", "d1", "d2"} and story.title == texts[int(story.representative[1])]
    assert set(story.key_terms[:3]) == {"Flood", "Bremen", "River"}
    assert story.growth == round(3 / 7, 4)
    assert tracker.end_step().stories == ()


def test_growth_counts_every_document_of_the_week_and_forgets_the_week_before():
    maker, tracker = Maker(), StoryTracker(window=100)
    copies = [maker.candidate(f"d{i}", "flood bremen river", i / 100, duplicate_of="d0") for i in range(1, 1200)]
    tracker.assign([maker.candidate("d0", "flood bremen river"), *copies])
    assert tracker.stories()[0].growth == 100.0 == tracker.end_step().stories[0].growth
    late = maker.candidate("late", "flood bremen river", 2.0, duplicate_of="d0")  # older than the week
    tracker.assign([late, maker.candidate("other", "strike hull port dockers", 18.9)])
    first, _ = tracker.end_step().stories
    assert abs(7 * first.growth - 9) <= 5  # to the hour: there are four or five in one
    twin = StoryTracker.from_state(unflatten(unpack_state(pack_state(flatten(tracker.get_state())))))
    assert twin.stories() == tracker.stories()


def test_a_branch_that_is_merged_still_tells_what_it_split_from():
    maker, tracker = Maker(), StoryTracker(short_join=0.1, split=0.5, cohesion=0.0, merge=0.9)
    candidates = [maker.candidate("seed", "election fraud court protest march police")]
    candidates += [maker.candidate(f"c{i}", "election court fraud ruling judge appeal", 1 + i) for i in range(5)]
    candidates += [maker.candidate(f"p{i}", "protest march police gas barricade arrest", 1.5 + i) for i in range(5)]
    tracker.assign(candidates)
    (branch,) = [story for story in tracker.end_step().stories if story.parent is not None]
    tracker.merge = 0.0  # whatever could be joined both becomes one
    tracker.assign([maker.candidate("both", "election court protest march", 7.0)])
    (again,) = [story for story in tracker.end_step().stories if story.id == branch.id]
    assert (again.status, again.parent, again.merged_into) == ("merged", branch.parent, branch.parent)


def test_duplicates_are_folded_into_the_story_of_the_first():
    maker, tracker = Maker(), StoryTracker()
    first = maker.candidate("a", "flood bremen river")
    copy = maker.candidate("b", "flood bremen river", 1.0, duplicate_of="a")
    stories = [assigned.story for assigned in tracker.assign([first, copy])]
    (story,) = tracker.end_step().stories
    assert stories == [story.id, story.id] and (story.size, story.duplicates) == (1, 1)


def test_stories_that_turn_out_to_be_one_are_merged_and_say_so():
    maker, tracker = Maker(), StoryTracker(short_join=0.65, merge=0.6)
    left = [maker.candidate(f"l{i}", f"quake lima alpha beta x{i}", i / 10) for i in range(3)]
    right = [maker.candidate(f"r{i}", f"quake lima gamma delta y{i}", i / 10) for i in range(3)]
    tracker.assign(left + right)
    assert {story.id for story in tracker.end_step().stories} == {"s1", "s2"}
    bridges = [maker.candidate(f"b{i}", "quake lima alpha beta gamma delta", 1 + i / 10) for i in range(4)]
    tracker.assign(bridges)
    changed = {story.id: story for story in tracker.end_step().stories}
    assert changed["s2"].status == "merged" and changed["s2"].merged_into == "s1" and changed["s2"].growth == 0.0
    assert changed["s1"].size == 10 and [story.id for story in tracker.stories()] == ["s1"]
    later = tracker.assign([maker.candidate("z", "quake lima gamma delta", 2.0)])
    assert later[0].story == "s1"


def test_a_story_that_falls_apart_is_split_and_says_from_what():
    maker, tracker = Maker(), StoryTracker(short_join=0.1, split=0.5, cohesion=0.0)
    candidates = [maker.candidate("seed", "election fraud court protest march police")]
    candidates += [maker.candidate(f"c{i}", "election court fraud ruling judge appeal", 1 + i) for i in range(5)]
    candidates += [maker.candidate(f"p{i}", "protest march police gas barricade arrest", 1.5 + i) for i in range(5)]
    tracker.assign(candidates)
    changed = {story.id: story for story in tracker.end_step().stories}
    branches = [story for story in changed.values() if story.parent is not None]
    assert len(branches) == 1 and branches[0].status == "open"
    parent = changed[branches[0].parent]
    assert branches[0].size + parent.size == 11 and branches[0].size == 5
    nxt = tracker.assign([maker.candidate("p9", "protest march police gas barricade", 7.0)])[0].story
    court = tracker.assign([maker.candidate("c9", "election court fraud ruling judge", 7.0)])[0].story
    assert nxt != court and {nxt, court} == {branches[0].id, parent.id}


def test_quiet_stories_fade_and_memory_is_bounded():
    maker, tracker = Maker(), StoryTracker(fade=5.0, max_stories=30, window=50)
    faded, sizes = [], []
    for i in range(200):
        tracker.assign([maker.candidate(f"d{i}", f"a{i} b{i} c{i}", i / 10)])
        faded += [story.id for story in tracker.end_step().stories if story.status == "faded"]
        sizes.append(len(pack_state(flatten(tracker.get_state()))))
    assert len(tracker.stories()) == 30 and len(faded) == 170
    assert max(sizes[-20:]) <= 1.1 * max(sizes[90:110])
    tracker.assign([maker.candidate("late", "new words here", 100.0)])
    tracker.end_step()
    assert [story.size for story in tracker.stories()] == [1]


def test_state_round_trip_gives_the_same_future():
    candidates, _ = planted(seed=3)
    tracker = StoryTracker()
    run(tracker, candidates[:50])
    blob = pack_state(flatten(tracker.get_state()))
    twin = StoryTracker.from_state(unflatten(unpack_state(blob)))
    assert pack_state(flatten(twin.get_state())) == blob
    assert run(tracker, candidates[50:]) == run(twin, candidates[50:])
    assert pack_state(flatten(twin.get_state())) == pack_state(flatten(tracker.get_state()))


def test_a_long_step_is_placed_in_blocks_with_the_same_result(monkeypatch):
    candidates, _ = planted(seed=5)
    candidates.insert(
        40, StoryCandidate(Document(id="again", text=""), [], [], duplicate_of=candidates[38].document.id)
    )
    at_once = StoryTracker()
    expected = at_once.assign(candidates)
    for block in (1, 7):
        monkeypatch.setattr(stories, "BLOCK_DOCUMENTS", block)
        tracker = StoryTracker()
        assert tracker.assign(candidates) == expected
    assert expected[40].story == expected[38].story and not expected[40].opened


def test_the_join_threshold_follows_the_stream():
    lonely, crowded = StoryTracker(), StoryTracker()
    maker = Maker()
    for i in range(300):
        lonely.assign([maker.candidate(f"d{i}", f"a{i} b{i}", i / 10)])
    maker = Maker()
    for i in range(300):
        crowded.assign([maker.candidate(f"d{i}", "flood bremen", i / 10)])
    assert lonely.join_threshold() > crowded.join_threshold()


def test_a_story_that_gets_its_first_time_late_fades_like_any_other():
    maker, tracker = Maker(), StoryTracker(fade=10.0)
    tracker.assign([maker.candidate("a", "flood bremen river", None)])
    tracker.assign([maker.candidate("b", "flood bremen river dam", 1.0)])
    tracker.end_step()
    tracker.assign([maker.candidate("c", "election paris vote", 20.0)])
    assert [(story.id, story.status) for story in tracker.end_step().stories] == [("s1", "faded"), ("s2", "open")]


def test_columns_out_of_order_make_no_difference():
    candidates, _ = planted()
    backwards = [
        StoryCandidate(a.document, a.columns[::-1], a.weights[::-1], a.ordinal, a.neighbours, surfaces=a.surfaces)
        for a in candidates
    ]
    assert run(StoryTracker(), candidates) == run(StoryTracker(), backwards)


def test_a_word_in_common_joins_long_texts_but_not_short_ones():
    tracker = StoryTracker()
    np.testing.assert_allclose(tracker.join_threshold(short=True), tracker.join_threshold() + 0.2)
    for n_terms, opened in ((10, True), (60, False)):
        maker, tracker = Maker(), StoryTracker()
        shared = [f"shared{k}" for k in range(n_terms // 5)]
        rows = [" ".join([*shared, *(f"own{i}x{k}" for k in range(n_terms - len(shared)))]) for i in range(2)]
        first, second = tracker.assign([maker.candidate(str(i), words) for i, words in enumerate(rows)])
        assert first.opened and second.opened is opened


def test_the_title_is_that_of_the_most_central_of_the_latest_documents():
    """The first three tell of a rumour; what the story is about comes after. Between doublings the title stays."""
    maker, tracker = Maker(), StoryTracker(join=0.05, cohesion=0.0, split=0.0)
    texts = ["flood bremen rumour radio"] * 2 + ["flood bremen rumour radio host"]
    texts += [f"flood bremen dike river helpers detail{i}" for i in range(20)]
    titles, rows = [], []
    for number, text in enumerate(texts):
        candidate = maker.candidate(f"d{number}", text, day=0.1 * number)
        tracker.assign([candidate])
        rows.append(dict(zip(candidate.columns.tolist(), candidate.weights.tolist(), strict=True)))
        (story,) = tracker.end_step().stories
        titles.append(story.representative)
        if story.size in (3, 6, 12):
            centroid = {c: sum(row.get(c, 0.0) for row in rows) for row in rows for c in row}
            latest = list(enumerate(rows))[-16:]
            best = max(latest, key=lambda pair: (round(sum(w * centroid[c] for c, w in pair[1].items()), 5), -pair[0]))
            assert story.representative == f"d{best[0]}"
    assert titles[:2] == ["d0", "d0"]
    changes = [size for size, (before, now) in enumerate(pairwise(titles), start=2) if before != now]
    assert set(changes) <= {3, 6, 12} and int(titles[-1][1:]) >= 3
    again = StoryTracker.from_state(unflatten(unpack_state(pack_state(flatten(tracker.get_state())))))
    assert again.stories() == tracker.stories()
