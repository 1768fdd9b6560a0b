"""The first start: as a user who owns nothing, with signals in the first moments, with a reader that goes away."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import firststory
from firststory.datasets import make_story_stream

NOBODY = 65534
SOURCES = Path(firststory.__file__).parents[1]
RUN = [sys.executable, "-m", "firststory.cli.main"]
QUICK = ["--detector", "neighbour", "--topics", "none", "--language", "en"]
KEPT = "compiled kernels are kept in"


def lines_of(path, count=30):
    stream = make_story_stream(count, max(count // 10, 2))
    rows = [{"id": d.id, "text": d.text, "title": d.title, "time": d.time.isoformat()} for d in stream.documents]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def as_nobody(tmp_path):
    """Run a command as nobody, without a home; the package and everything else belong to root."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("needs root and setpriv, to become nobody")
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    # Folders above the test's own must let nobody through, and the package must not be writable for it.
    package = Path("/var/tmp") / f"firststory-test-{os.getpid()}"
    shutil.copytree(SOURCES, package / "src", ignore=shutil.ignore_patterns("__pycache__"))
    workplace = package / "work"
    workplace.mkdir()
    os.chown(workplace, NOBODY, NOBODY)
    package.chmod(0o755)

    # As in a container: everything is read-only but the folder of the test.
    mounts = f"mount --make-rprivate / && mount --bind {workplace} {workplace} && mount -o remount,bind,ro / && "
    read_only = ["unshare", "--mount", "sh", "-c", mounts + 'cd "$0" && exec "$@"', workplace]

    def run(*arguments, is_read_only=False, **environment):
        given = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONPATH": str(package / "src")}
        given["PYTHONDONTWRITEBYTECODE"] = "1"
        try:
            return subprocess.run(
                [*(read_only if is_read_only else []), *drop, *arguments],
                env=given | environment,
                cwd=workplace,
                capture_output=True,
                text=True,
                timeout=900,  # it compiles all kernels that it needs, beside other tests
            )
        except PermissionError:
            pytest.skip("nobody may not run this Python")

    run.folder, run.package = workplace, package / "src"
    if run(sys.executable, "-c", "import numba").returncode:
        shutil.rmtree(package)
        pytest.skip("nobody may not read this Python")
    yield run
    shutil.rmtree(package)


# One kernel is enough to see where machine code goes, and quick to compile.
ONE_KERNEL = (
    "import warnings; warnings.simplefilter('always')\n"
    "from firststory.kernels.text import counting, first_places as module\n"
    "print(next(one for one in vars(module).values() if hasattr(one, 'py_func')).stats.cache_path)\n"
)


def test_a_user_without_a_home_starts_and_keeps_kernels_in_a_private_folder(as_nobody):
    temporary = as_nobody.folder / "tmp"
    temporary.mkdir()
    os.chown(temporary, NOBODY, NOBODY)
    done = as_nobody(sys.executable, "-c", ONE_KERNEL, TMPDIR=str(temporary))
    assert done.returncode == 0, done.stderr
    folder = temporary / f"firststory-kernels-{NOBODY}"
    assert done.stdout.strip().startswith(str(folder))
    assert folder.stat().st_mode & 0o777 == 0o700 and folder.stat().st_uid == NOBODY
    assert done.stderr.count(KEPT) == 1  # said once, whatever the number of kernels


def test_a_folder_that_others_may_write_is_not_trusted(as_nobody):
    temporary = as_nobody.folder / "tmp"
    temporary.mkdir()
    os.chown(temporary, NOBODY, NOBODY)
    (temporary / f"firststory-kernels-{NOBODY}").mkdir()  # made by root: another user
    done = as_nobody(sys.executable, "-c", ONE_KERNEL, TMPDIR=str(temporary))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "None" and done.stderr.count("are not kept") == 1
    assert not list((temporary / f"firststory-kernels-{NOBODY}").iterdir())


def test_without_any_folder_kernels_are_compiled_anew(as_nobody):
    as_nobody.folder.chmod(0o555)
    places = {"TMPDIR": "/proc/self", "NUMBA_CACHE_DIR": "/proc/nowhere"}
    nowhere = (
        "import tempfile\ndef none(): raise FileNotFoundError(2, 'no usable folder')\ntempfile.gettempdir = none\n"
    )
    done = as_nobody(sys.executable, "-c", nowhere + ONE_KERNEL, **places)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "None" and done.stderr.count("are not kept") == 1


def test_what_was_compiled_at_installation_is_used(as_nobody, tmp_path):
    """A container is built by root and run by nobody on a read-only root."""
    kernel = "from firststory.kernels.jit import kernel\n@kernel\ndef twice(x):\n    return 2 * x\n"
    (as_nobody.package / "firststory" / "kernels" / "made_up.py").write_text(kernel)
    ask = "from firststory.kernels.made_up import twice\nprint(twice(3), sum(twice.stats.cache_hits.values()))"
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(as_nobody.package)}
    built = subprocess.run([sys.executable, "-c", ask], env=environment, capture_output=True, text=True, check=True)
    assert built.stdout.split() == ["6", "0"]
    temporary = as_nobody.folder / "tmp"
    temporary.mkdir()
    os.chown(temporary, NOBODY, NOBODY)
    found = as_nobody(sys.executable, "-c", ask, TMPDIR=str(temporary))
    assert found.stdout.split() == ["6", "1"] and KEPT not in found.stderr  # nothing is amiss, nothing is said


@pytest.mark.slow
def test_run_as_nobody_tells_stories(as_nobody):
    """On a read-only root, with a home that belongs to root: the folder of the store and TMPDIR are all there is."""
    lines_of(as_nobody.folder / "s.jsonl")
    temporary, home = as_nobody.folder / "tmp", as_nobody.folder / "home"
    temporary.mkdir()
    home.mkdir(mode=0o555)
    os.chown(temporary, NOBODY, NOBODY)
    may_mount = as_nobody("true", is_read_only=True).returncode == 0
    places = {"TMPDIR": str(temporary), "HOME": str(home)}
    done = as_nobody(*RUN, "run", "s.jsonl", "--store", "n.db", *QUICK, is_read_only=may_mount, **places)
    assert done.returncode == 0, done.stderr
    assert not list(home.iterdir())
    assert "documents judged" in done.stdout
    assert done.stderr.count(KEPT) == 1 and "firststory: preparing kernels, once per installation" in done.stderr
    assert "Warning" not in done.stderr
    again = as_nobody(*RUN, "stories", "--store", "n.db", "--json", TMPDIR=str(temporary))
    assert again.returncode == 0 and json.loads(again.stdout)


# A finder that is asked for every import sends the signal when one of them begins: no clock, every moment hit.
AT_IMPORT = """
import importlib.abc, os, signal, sys
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {name!r}:
            os.kill(os.getpid(), {number})
sys.meta_path.insert(0, Finder())
sys.argv = ["firststory", "run", {path!r}, "--store", {store!r}]
from firststory.cli.main import main
main()
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("name", ["typer", "firststory.cli.run", "numpy", "numba.core", "sqlalchemy"])
def test_a_signal_while_it_starts_ends_it_with_one_line(tmp_path, name, number):
    path = lines_of(tmp_path / "s.jsonl", 4)
    program = AT_IMPORT.format(name=name, number=int(number), path=str(path), store=str(tmp_path / "s.db"))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "firststory: interrupted.\n")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_in_a_command_that_only_reads(tmp_path, number):
    program = AT_IMPORT.format(name="sqlalchemy", number=int(number), path="x", store="y")
    program = program.replace("\"run\", 'x', \"--store\", 'y'", '"status", "--store", "nowhere.db"')
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, timeout=120)
    assert (done.returncode, done.stderr) == (130, "firststory: interrupted.\n")


@pytest.mark.slow
def test_sigterm_while_kernels_are_compiled_ends_it_before_the_step_is_taken(tmp_path):
    path, store = lines_of(tmp_path / "s.jsonl", 10), tmp_path / "s.db"
    kernels = tmp_path / "kernels"  # nothing is compiled yet
    kernels.mkdir()
    words = [*RUN, "run", path, "--store", store, "--log-format", "json", *QUICK]
    with subprocess.Popen(
        words, stderr=subprocess.PIPE, text=True, env=os.environ | {"NUMBA_CACHE_DIR": str(kernels)}
    ) as process:
        for line in process.stderr:
            if json.loads(line)["event"] == "kernels":
                break
        process.terminate()
        rest = [json.loads(line)["event"] for line in process.stderr]
        assert process.wait(300) == 130
    assert rest[-2:] == ["stop", "interrupted"] or rest[-1] == "interrupted"
    told = subprocess.run([*RUN, "status", "--store", store, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(told.stdout)["documents"] == 0


@pytest.fixture(scope="module")
def small_store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    path = lines_of(folder / "s.jsonl", 60)
    path.write_text(path.read_text().replace("Fire", "Überfall"))
    subprocess.run([*RUN, "run", str(path), "--store", str(folder / "s.db"), *QUICK], check=True, capture_output=True)
    return folder / "s.db"


def shell(command, **environment):
    given = {name: value for name, value in os.environ.items() if name != "COLUMNS"} | environment
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=given, timeout=120)


@pytest.mark.parametrize("command", ["status", "stories", "alerts", "stories --json"])
def test_a_reader_that_has_gone_is_no_error(small_store, command):
    # A pipe whose reading end is closed before anything is written.
    done = shell(f"set -o pipefail; {' '.join(RUN)} {command} --store {small_store} | true")
    assert (done.returncode, done.stderr) == (0, "")


def test_a_run_whose_reader_has_gone_keeps_what_it_finished(tmp_path):
    path = lines_of(tmp_path / "s.jsonl", 40)
    words = f"{' '.join(RUN)} run {path} --store {tmp_path}/s.db --step 10 {' '.join(QUICK)}"
    done = shell(f"set -o pipefail; {words} --budget 100% | true")
    assert done.returncode == 0 and "Error" not in done.stderr
    assert shell(words).returncode == 0  # and the next run goes on


@pytest.mark.parametrize("command", ["status", "stories --json"])
def test_a_full_disk_under_the_output_is_not_our_fault(small_store, command):
    done = shell(f"{' '.join(RUN)} {command} --store {small_store} > /dev/full")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr and "fault" not in done.stderr


@pytest.mark.parametrize("command", ["status", "stories", "stories --json", "storylines", "alerts"])
def test_a_terminal_in_ascii_is_no_error(small_store, command):
    done = shell(f"{' '.join(RUN)} {command} --store {small_store}", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.isascii()
    if "--json" in command:
        assert "Überfall" in "".join(one["title"] for one in json.loads(done.stdout))


@pytest.mark.parametrize(
    "words",
    ["run x.jsonl --store x.db --budget bogus", "stories --store {store} --order bogus", "run x.jsonl", "status"],
)
def test_a_wrong_command_line_is_exit_status_2(small_store, tmp_path, words):
    (tmp_path / "x.jsonl").write_text('{"text": "a"}\n')
    done = shell(f"cd {tmp_path}; {' '.join(RUN)} {words.format(store=small_store)}")
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and done.stderr.count("firststory:") == 1


def test_kernels_can_be_compiled_beforehand():
    done = subprocess.run([*RUN, "prepare"], capture_output=True, text=True, timeout=500)
    assert done.returncode == 0 and done.stdout == "Kernels are compiled and kept.\n", done.stderr


def test_the_shell_completes_commands_and_options():
    for words, number, found in (("firststory sto", 1, "storylines"), ("firststory run --bud", 2, "--budget")):
        asked = {"_FIRSTSTORY_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(number)}
        assert found in shell(" ".join(RUN), **asked).stdout.split()


@pytest.mark.parametrize("command", ["run", "score"])
def test_a_file_of_which_nothing_is_readable_is_no_success(tmp_path, command):
    path = tmp_path / "x.jsonl"
    path.write_text("".join(f'{{"Text": "Flood number {i} in Bremen"}}\n' for i in range(3)))
    store = f"--store {tmp_path}/x.db" if command == "run" else ""
    done = shell(f"{' '.join(RUN)} {command} {path} {store} {' '.join(QUICK[:2])}")
    assert done.returncode == 1 and "missing-text 3" in done.stderr and "--map text=Text" in done.stderr
    # Nothing of it was stored, so the right names read it from its start.
    again = shell(f"{' '.join(RUN)} {command} {path} {store} {' '.join(QUICK[:2])} --map text=Text")
    assert again.returncode == 0, again.stderr
    assert "3 documents judged" in " ".join(again.stdout.split()) or again.stdout.count('"novelty"') == 3


def test_sources_are_held_back_until_one_line_is_a_document(monkeypatch):
    from firststory.cli import unread
    from firststory.records import Document, Idle, Position, Quarantined

    def bad(source, i):
        return Quarantined("wrong-json", "m", Position(source, {"line": i}), "")

    def good(source, i):
        return Document(id=f"{source}{i}", text="x"), Position(source, {"line": i})

    given = [bad("a", 1), bad("a", 2), good("a", 3), bad("b", 1), Idle(), bad("b", 2), good("c", 1), bad("c", 2)]
    given += [bad("-", 1), bad("d", 1), bad("e", 1), bad("known", 9)]
    watched = unread.Unread({"known"})
    left_out = [bad("b", 1), bad("b", 2), bad("d", 1), bad("e", 1)]
    assert list(watched.watch(iter(given))) == [one for one in given if one not in left_out]
    with pytest.raises(Exception, match="1"):
        watched.check()
    monkeypatch.setattr(unread, "MOST_HELD", 2)
    many = [bad("f", i) for i in range(5)]
    assert list(unread.Unread().watch(iter(many))) == many


def test_kernels_are_told_of_once_and_again_after_a_while_and_their_time_is_known(monkeypatch):
    from firststory.cli import preparing

    clock = iter([0.0, 2.0, 2.5, 3.0, 8.5, 9.0, 10.0, 30.0])
    monkeypatch.setattr(preparing.time, "monotonic", lambda: next(clock))
    said, before = [], preparing.compiling_seconds()
    listen = preparing.Preparing(said.append)
    for is_beginning in (True, True, False, False, True, False, True, False):
        listen(is_beginning)
    assert said == [
        "preparing kernels, once per installation: a minute or two of one processor",
        "preparing kernels, once per installation: 2 compiled so far",
    ]
    # 0 to 3, 8.5 to 9, 10 to 30: the kernel inside another is not counted twice.
    assert preparing.compiling_seconds() - before == pytest.approx(23.5)


def test_the_rate_is_that_of_the_stream_without_start_up(monkeypatch):
    from firststory import vitals
    from firststory.cli import preparing
    from firststory.records import Step

    now = [160.0]
    monkeypatch.setattr(vitals.time, "monotonic", lambda: now[0])
    measured = vitals.Vitals(waited=preparing.compiling_seconds)
    listen = preparing.Preparing(lambda said: None)
    listen(True)
    now[0] = 200.0  # compiling
    listen(False)
    now[0] = 210.0
    measured.count(Step(0, (), counts={"seen": 50}), 0)
    assert measured.rate() == pytest.approx(5.0)
