"""`reproduce` and `bench`: sections are printed, kept, and gathered."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from firststory.cli import results
from firststory.cli.main import main
from firststory.errors import DataError, MissingExtraError
from firststory.lab.benchmarks import BENCHMARKS
from firststory.lab.experiments import EXPERIMENTS


def missing(**_):
    raise DataError(owner="x", parameter="the corpus", allowed="there", received="nothing", remedy="Get it.")


def figure(*, quick, out):
    (out / "curve-det.png").write_bytes(b"png")
    return f"quick={quick}\n\n![DET](curve-det.png)"


@pytest.fixture
def registry(monkeypatch):
    def put(package, table, name, run):
        module = ModuleType(name)
        module.TITLE, module.run = f"Title of {name}", run
        monkeypatch.setitem(sys.modules, f"{package}.{name}", module)
        monkeypatch.setitem(table, name, name)

    EXPERIMENTS_BEFORE, BENCHMARKS_BEFORE = dict(EXPERIMENTS), dict(BENCHMARKS)
    EXPERIMENTS.clear()
    BENCHMARKS.clear()
    put("firststory.lab.experiments", EXPERIMENTS, "curve", figure)
    put("firststory.lab.experiments", EXPERIMENTS, "absent", missing)
    put(
        "firststory.lab.benchmarks", BENCHMARKS, "speed", lambda *, quick: "## Speed\n\n| a | b |\n|---|---|\n| 1 | 2 |"
    )
    yield
    for table, before in ((EXPERIMENTS, EXPERIMENTS_BEFORE), (BENCHMARKS, BENCHMARKS_BEFORE)):
        table.clear()
        table.update(before)


def run(*arguments):
    with pytest.raises(SystemExit) as stopped:
        main(list(arguments))
    return stopped.value.code or 0


def test_out_keeps_the_section_the_figure_and_the_whole(registry, tmp_path, capsys):
    assert run("reproduce", "curve", "--out", str(tmp_path)) == 0
    kept = (tmp_path / "results" / "curve.md").read_text()
    assert kept.strip() == capsys.readouterr().out.strip()
    assert kept.startswith("## Title of curve\n\n`firststory reproduce curve`\n\nquick=False")
    assert (tmp_path / "results" / "curve-det.png").exists()
    assert "](results/curve-det.png)" in (tmp_path / "RESULTS.md").read_text()


def test_quick_results_say_so(registry, capsys):
    assert run("bench", "speed", "--quick") == 0
    assert "Quick version" in capsys.readouterr().out


@pytest.mark.parametrize(("module", "extra"), [("matplotlib.pyplot", "lab"), ("gensim.models", "bench")])
def test_a_missing_package_is_named_with_its_extra(module, extra):
    with pytest.raises(MissingExtraError, match=rf"firststory\[{extra}\]"), results.needing_lab("firststory bench"):
        raise ModuleNotFoundError(f"No module named {module!r}", name=module)
    with pytest.raises(ModuleNotFoundError, match="ours"), results.needing_lab("firststory bench"):
        raise ModuleNotFoundError("ours", name="firststory.no_such")


def test_one_failure_does_not_stop_the_others(registry, tmp_path, capsys):
    assert run("reproduce", "--all", "--out", str(tmp_path)) == 1
    assert "firststory: absent: the corpus" in capsys.readouterr().err
    assert (tmp_path / "results" / "curve.md").exists()


def test_other_sections_stay_when_one_is_refreshed(registry, tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "older.md").write_text("## Older\n\nmeasured before\n")
    assert run("bench", "speed", "--out", str(tmp_path)) == 0
    whole = (tmp_path / "RESULTS.md").read_text()
    assert whole.index("## Speed") < whole.index("measured before")


def test_list_and_missing_name(registry, capsys):
    assert run("reproduce", "--list") == 0
    assert "curve   Title of curve" in capsys.readouterr().out
    assert run("reproduce") == 1
    assert "--list" in capsys.readouterr().err
