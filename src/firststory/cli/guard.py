"""How a command ends: one line on standard error that says what to do, and an exit status. Never a traceback."""

from __future__ import annotations

import errno
import functools
import io
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from firststory.cli.preparing import Preparing
from firststory.errors import FirststoryError, ParameterError
from firststory.kernels.preparing import KernelCacheWarning, listening

ERROR, USAGE, INTERRUPTED = 1, 2, 130
"""Exit statuses; Typer gives 2 too."""
LONGEST = 2000
"""Characters of a message: lists of what is allowed are long."""


def complain(message: str, event: str = "failed", level: str = "error") -> None:
    """One line on standard error, made harmless: it may quote file names, headers and values from anywhere."""
    from firststory import logs
    from firststory.harmless import harmless

    if (log := logs.current()) is not None:
        logs.tell(log, message, event, level)
        return
    print("firststory: " + harmless(message, LONGEST), file=sys.stderr)


def guarded(
    function: Callable[..., Any], *, debug: bool = False, saves: bool = False, interruptible: bool = False
) -> Callable[..., None]:
    """The same command, its errors turned into one line and an exit status (`--debug` lets them through).

    `saves` says that the command keeps what it has finished, however it ends; `interruptible` that it answers signals
    itself once it has begun.
    """

    @functools.wraps(function)
    def command(*args: Any, **kwargs: Any) -> None:
        try:
            say = (lambda message: None) if kwargs.get("quiet") else _mention
            with _at_the_edge(interruptible), listening(Preparing(say)):
                function(*args, **kwargs)
                sys.stdout.flush()
        except KeyboardInterrupt:
            _tell_interrupted(saves)
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # Whoever read our output has gone (`firststory score ... | head`): not an error, and no noise at exit.
            _drop_output()
            raise typer.Exit(0) from None
        except FirststoryError as error:
            if debug:
                raise
            complain(error.without_owner)
            raise typer.Exit(USAGE if _is_usage(error) else ERROR) from None
        except Exception as error:
            # typer's own exits and usage errors are exceptions too: they know their way.
            if debug or type(error).__module__.split(".")[0] in ("typer", "click"):
                raise
            if _is_interrupt(error):
                _tell_interrupted(saves)
                raise typer.Exit(INTERRUPTED) from None
            complain(_in_words(error))
            if isinstance(error, OSError):
                _drop_output()  # what could not be written must not be tried again at exit
            raise typer.Exit(ERROR) from None

    return command


def _tell_interrupted(saves: bool) -> None:
    complain("interrupted; what was finished is saved." if saves else "interrupted.", "interrupted", "info")


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether this is Ctrl-C inside a compiled kernel, which can only say that it returned with an exception set."""
    if not isinstance(error, SystemError):
        return False
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _mention(message: str) -> None:
    complain(message, "kernels", "info")


def _is_usage(error: FirststoryError) -> bool:
    """Whether an option or a setting has a value that it cannot have, or is missing.

    What nobody could know from the command line (a folder that cannot be written to, a story that the store does not
    have) is an error like any other.
    """
    is_setting = error.owner in ("settings", "parse_budget")
    is_option = error.parameter.startswith("--") and error.allowed.startswith(("one of ", "given"))
    return isinstance(error, ParameterError) and (is_setting or is_option or error.parameter == "since")


def _in_words(error: Exception) -> str:
    """What the machine refuses is no fault of firststory; the rest is."""
    if isinstance(error, MemoryError):
        return "There is not enough memory. A smaller --window needs less; so does --topics none."
    if isinstance(error, OSError) and error.strerror:
        where = "" if error.filename is None else f"{error.filename}: "
        if error.filename is None and error.errno in (errno.ENOSPC, errno.EIO, errno.EFBIG, errno.EDQUOT, errno.EBADF):
            where = "What is printed cannot be written: "
        return f"{where}{error.strerror}. Check the disk, the path and the permissions."
    return f"{type(error).__name__}: {error}. This is a fault of firststory: add --debug to see where."


def _drop_output() -> None:
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):  # a replacement that is not a file
        sys.stdout = io.StringIO()


@contextmanager
def _at_the_edge(interruptible: bool) -> Iterator[None]:
    """Our warnings as plain lines, output that takes every letter, and SIGTERM as Ctrl-C in a program of our own."""
    shown = warnings.showwarning

    def show(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
        if issubclass(category, KernelCacheWarning):
            complain(str(message), "kernels", "warning")
        else:
            shown(message, category, *where, **more)

    before = {}
    if not interruptible and signal.getsignal(signal.SIGTERM) not in (signal.SIG_DFL, signal.SIG_IGN):
        before = {number: signal.signal(number, _interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not writes_every_letter(stream):
            stream.reconfigure(errors="backslashreplace")
    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = shown
        for number, handler in before.items():
            signal.signal(number, handler)


def writes_every_letter(stream: Any) -> bool:
    """Whether a stream can write all of Unicode; one in ASCII or Latin-1 cannot."""
    return (getattr(stream, "encoding", None) or "utf-8").lower().replace("-", "").startswith(("utf8", "utf16"))


def _interrupt(number: int, frame: Any) -> None:
    raise KeyboardInterrupt
