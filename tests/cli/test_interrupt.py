"""What is handed on after Ctrl-C, with the signal at every possible moment."""

from __future__ import annotations

import gzip
import io
import os
import signal

import pytest
import typer
import zstandard

from firststory.cli.guard import INTERRUPTED, guarded
from firststory.cli.interrupt import interruptible
from firststory.sources.files import read_all

LINES = [f'{{"id": "d{i}", "text": "Flood number {i} in Bremen"}}\n'.encode() for i in range(400)]
"""More than one buffer full, less than a pipe holds."""


@pytest.fixture
def pipe(monkeypatch):
    reader, writer = os.pipe()

    class Stdin:
        def fileno(self):
            return reader

    monkeypatch.setattr("sys.stdin", Stdin())
    with os.fdopen(writer, "wb", buffering=0) as open_end:
        yield open_end
    os.close(reader)


def ids(interrupt, names=("-",), flush=True, after=lambda n: None):
    """The ids that are handed on; `after` is told how many there are."""
    found = []
    arrivals = read_all(names, {}, print, stdin=interrupt.standard_input())
    for document, _ in interrupt.until_wanted(arrivals, flush=flush):
        found.append(document.id)
        after(len(found))
    return found


def signal_after(count):
    return lambda number: signal.raise_signal(signal.SIGINT) if number == count else None


@pytest.mark.parametrize("count", [1, 7, 100, 399])
def test_all_that_was_written_before_the_signal_is_handed_on(pipe, count):
    pipe.write(b"".join(LINES))
    with interruptible() as interrupt:
        assert ids(interrupt, after=signal_after(count)) == [f"d{i}" for i in range(400)]


def test_what_is_written_after_the_signal_and_unfinished_lines_stay_unread(pipe):
    def after(number):
        if number == 3:
            signal.raise_signal(signal.SIGINT)
        if number == 400:
            pipe.write(b'finished"}\n' + LINES[0])

    pipe.write(b"".join(LINES) + b'{"text": "not ')
    with interruptible() as interrupt:
        assert len(ids(interrupt, after=after)) == 400


def test_waiting_for_input_is_cut_short(pipe):
    pipe.write(LINES[0] + LINES[1])

    class Waiting:
        """Raises the signal when the reader asks whether it should stop, the moment before it would wait."""

        def __init__(self, interrupt):
            self.asked, self.interrupt = 0, interrupt

        def __call__(self):
            self.asked += 1
            if self.asked == 2:
                signal.raise_signal(signal.SIGINT)
                return False  # as if the signal had come just after the question
            return self.interrupt.wanted

    with interruptible() as interrupt:
        stdin = interrupt.standard_input()
        stdin.raw._is_stopping = Waiting(interrupt)
        arrivals = read_all(["-"], {}, print, stdin=stdin)
        assert len(list(interrupt.until_wanted(arrivals, flush=True))) == 2
        assert interrupt.wanted


@pytest.mark.parametrize("compress", [gzip.compress, zstandard.compress])
def test_compressed_lines_are_handed_on_too(pipe, compress):
    pipe.write(compress(b"".join(LINES)))
    with interruptible() as interrupt:
        assert len(ids(interrupt, after=signal_after(5))) == 400


def test_a_file_after_standard_input_is_not_begun(pipe, tmp_path):
    (tmp_path / "later.jsonl").write_bytes(b'{"id": "later", "text": "Fire"}\n')
    pipe.write(b"".join(LINES))
    with interruptible() as interrupt:
        found = ids(interrupt, ("-", str(tmp_path / "later.jsonl")), after=signal_after(5))
    assert found == [f"d{i}" for i in range(400)]


def test_files_are_left_at_once(tmp_path):
    (tmp_path / "news.jsonl").write_bytes(b"".join(LINES))
    with interruptible() as interrupt:
        seen = []
        with pytest.raises(KeyboardInterrupt):
            ids(
                interrupt,
                (str(tmp_path / "news.jsonl"),),
                flush=False,
                after=lambda n: (seen.append(n), signal_after(5)(n)),
            )
        assert seen == [1, 2, 3, 4, 5]


def test_the_second_signal_stops_at_once(pipe):
    pipe.write(b"".join(LINES))
    with interruptible() as interrupt, pytest.raises(KeyboardInterrupt):
        ids(interrupt, after=lambda n: signal.raise_signal(signal.SIGINT))


def test_a_standard_input_that_is_no_file_is_read_as_it_is(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(LINES[0]))))
    with interruptible() as interrupt:
        assert ids(interrupt) == ["d0"]


def test_without_standard_input_there_is_nothing_to_read(monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    with interruptible() as interrupt:
        assert ids(interrupt) == []


def test_what_was_there_before_is_put_back():
    before = signal.getsignal(signal.SIGINT)
    with interruptible():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before and signal.set_wakeup_fd(-1) == -1


def test_ctrl_c_inside_a_kernel_is_no_fault(capsys):
    """Compiled code returns with the exception set, and Python makes a SystemError of it."""

    def command():
        raise SystemError("<built-in kernel> returned a result with an exception set") from KeyboardInterrupt()

    with pytest.raises(typer.Exit) as ended:
        guarded(command)()
    assert ended.value.exit_code == INTERRUPTED and capsys.readouterr().err == "firststory: interrupted.\n"

    def broken():
        raise SystemError("something else")

    with pytest.raises(typer.Exit) as ended:
        guarded(broken)()
    assert ended.value.exit_code == 1 and "fault of firststory" in capsys.readouterr().err
