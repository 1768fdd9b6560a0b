"""The queue of quiet stories gives what looking at all of them would."""

from __future__ import annotations

import numpy as np

from firststory.stories.quiet import QuietFirst


def test_it_agrees_with_looking_at_all():
    rng = np.random.default_rng(0)
    by_time, by_turn, last, turn, gone = QuietFirst(), QuietFirst(), {}, {}, set()
    for step in range(400):
        for key in rng.choice(60, size=4):
            name = int(key) + 60 * (step // 50)
            if name in gone:  # a key is never used twice
                continue
            fresh = name not in last
            last[name] = max(last.get(name, 0.0), step + rng.normal(scale=3.0))
            turn[name] = step
            if fresh:
                by_time.add(last[name], name)
                by_turn.add(turn[name], name)
        expected = sorted((at, key) for key, at in last.items() if at < step - 12)
        quiet = by_time.pop_before(step - 12, last.get)
        assert quiet == [key for _, key in expected]
        crowd = len(last) - len(quiet) - 30
        if crowd > 0:
            rest = sorted((at, key) for key, at in turn.items() if key not in quiet)
            found = by_turn.pop_first(crowd, turn.get, without=set(quiet))
            assert found == [key for _, key in rest[:crowd]]
            quiet += found
        gone.update(quiet)
        for key in quiet:
            del last[key], turn[key]
    assert len(last) <= 30
