"""How a command ends: one line on standard error that says what to do, and an exit status. Never a traceback."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import typer

from firststory.errors import FirststoryError

ERROR, INTERRUPTED = 1, 130
"""Exit statuses; wrong usage is 2, which Typer gives."""
LONGEST = 2000
"""Characters of a message: lists of what is allowed are long."""


def complain(message: str) -> None:
    """One line on standard error, made harmless: it may quote file names, headers and values from anywhere."""
    from firststory.harmless import harmless

    print("firststory: " + harmless(message, LONGEST), file=sys.stderr)


def guarded(function: Callable[..., Any], *, debug: bool = False, saves: bool = False) -> Callable[..., None]:
    """The same command, its errors turned into one line and an exit status (`--debug` lets them through).

    `saves` says that the command keeps what it has finished, however it ends.
    """

    @functools.wraps(function)
    def command(*args: Any, **kwargs: Any) -> None:
        try:
            function(*args, **kwargs)
        except KeyboardInterrupt:
            complain("interrupted; what was finished is saved." if saves else "interrupted.")
            raise typer.Exit(INTERRUPTED) from None
        except BrokenPipeError:
            # Whoever read our output has gone (`firststory score ... | head`): not an error, and no noise at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except FirststoryError as error:
            if debug:
                raise
            complain(error.without_owner)
            raise typer.Exit(ERROR) from None
        except Exception as error:
            # typer's own exits and usage errors are exceptions too: they know their way.
            if debug or type(error).__module__.split(".")[0] in ("typer", "click"):
                raise
            complain(f"{type(error).__name__}: {error}. This is a fault of firststory: add --debug to see where.")
            raise typer.Exit(ERROR) from None

    return command
