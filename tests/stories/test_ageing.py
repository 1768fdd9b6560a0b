"""Ageing gives the stories that a plain look at all of them would."""

from __future__ import annotations

import numpy as np
import pytest

from firststory.state import flatten, pack_state, unflatten, unpack_state
from firststory.stories import quiet as quiet_module
from firststory.stories.ageing import Ageing
from firststory.units import DAY_SECONDS


@pytest.mark.parametrize("few", [0, 1000])
@pytest.mark.parametrize("seed", range(5))
def test_it_agrees_with_looking_at_all(seed, few, monkeypatch):
    monkeypatch.setattr(quiet_module, "FEW", few)
    rng = np.random.default_rng(seed)
    ageing, last, turn = Ageing(), {}, {}
    now, n_turns, next_key = 0.0, 0, 0
    for step in range(300):
        for _ in range(3):
            is_new = not last or rng.random() < 0.4
            key = next_key if is_new else int(rng.choice(sorted(last)))
            next_key += is_new
            time = DAY_SECONDS * (step / 10 + rng.normal(scale=0.3)) if rng.random() < 0.7 else None
            known = [t for t in (last.get(key), time) if t is not None]
            last[key] = max(known, default=None)
            n_turns += 1
            turn[key] = n_turns
            ageing.touch(key, last[key])
            now = max([now, *known])
        if step % 7 == 0 and len(last) > 2:
            older, younger = sorted(last)[:2]
            ageing.merge(younger, into=older)
            last[older] = max((t for t in (last[older], last.pop(younger)) if t is not None), default=None)
            del turn[younger]
        if step % 50 == 0:
            ageing = Ageing.from_state(unflatten(unpack_state(pack_state(flatten(ageing.get_state())))))
        late = now - 2 * DAY_SECONDS
        quiet = [k for _, k in sorted((t, k) for k, t in last.items() if t is not None and t < late)]
        rest = sorted((t, k) for k, t in turn.items() if k not in quiet)
        quiet += [k for _, k in rest[: max(0, len(rest) - 12)]]
        assert ageing.pop_quiet(now, fade_days=2.0, max_stories=12) == quiet
        for key in quiet:
            del last[key], turn[key]
    assert next_key > 100 and len(last) <= 12


def test_what_is_gone_does_not_wait_for_a_time_that_never_comes():
    """Sixty days until a story fades, and millions of stories until then."""
    ageing = Ageing()
    for key in range(20_000):
        ageing.touch(key, last=float(key))
        if key % 3 == 2:
            ageing.merge(key, into=key - 1)
        ageing.pop_quiet(float(key), fade_days=60.0, max_stories=100)
    assert len(ageing._by_time) <= 2 * 100 + quiet_module.FEW
    assert len(ageing._by_turn) <= 2 * 100 + quiet_module.FEW
