"""Records that are worked out when somebody reads them."""

from __future__ import annotations

import copy
import pickle

import pytest

from firststory.records import Evidence, Neighbour

MADE = Evidence((), (Neighbour("1", 0.5),), "known", "Known story.")


def make() -> Evidence:
    return MADE


def test_a_record_is_made_once_and_is_like_any_other():
    calls = []
    later = Evidence.later(lambda: calls.append(1) or MADE)
    assert not calls
    assert later.sentence == "Known story." and later.nearest == MADE.nearest
    assert later == MADE and hash(later) == hash(MADE) and repr(later) == repr(MADE)
    assert calls == [1]


def test_it_is_copied_with_its_values():
    for again in (copy.copy(Evidence.later(make)), pickle.loads(pickle.dumps(Evidence.later(make)))):
        assert again == MADE


def test_what_it_does_not_have_is_no_attribute():
    for record in (Evidence.later(make), MADE):
        with pytest.raises(AttributeError, match="'Evidence' object has no attribute 'colour'"):
            record.colour  # noqa: B018


def test_what_makes_a_record_is_known_until_somebody_reads_it():
    def make():
        return Evidence(kind="known", sentence="so")

    later = Evidence.later(make)
    assert later.unread() is make
    assert later.sentence == "so" and later.unread() is None
    assert make().unread() is None
