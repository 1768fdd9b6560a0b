"""The figure of what a document costs as the window grows."""

from __future__ import annotations

import pytest

from firststory.cli.bench import _asked

pytest.importorskip("matplotlib")

from firststory.lab.benchmarks import memory, memory_figure, serve, step


def _marks(*pairs):
    return [{"microseconds": us, "resident": mb} for us, mb in pairs]


def test_every_value_stands_at_its_point(tmp_path, monkeypatch):
    drawn = []
    new = memory_figure.new_figure
    monkeypatch.setattr(memory_figure, "new_figure", lambda **options: drawn.append(new(**options)) or drawn[-1])
    growing = {"short": _marks((189, 284), (268, 356)), "long": _marks((616, 1326), (941, 518))}
    memory_figure.draw(growing, (1000, 10_000), tmp_path / "cost.png")
    assert (tmp_path / "cost.png").read_bytes().startswith(b"\x89PNG")
    cost, resident = drawn[0].axes
    assert {note.get_text(): note.xy for note in cost.texts} == {
        "189": (1000, 189),
        "268": (10_000, 268),
        "616": (1000, 616),
        "941": (10_000, 941),
    }
    assert [note.get_text() for note in resident.texts] == ["284", "356", "1,326", "518"]


def test_a_benchmark_is_given_what_it_knows_and_what_was_asked_for(tmp_path):
    assert _asked(memory.run, seconds=None, out=tmp_path) == {"out": tmp_path}
    assert _asked(memory.run, seconds=None, out=None) == {}
    assert _asked(serve.run, seconds=3.0, out=tmp_path) == {"seconds": 3.0}
    assert _asked(step.run, seconds=3.0, out=tmp_path) == {}
