"""The entry point: light, so that a signal is answered from the first moment on. `application.py` has the rest."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

COMMANDS = {
    # name on the command line, after that of its group: its module in this package, with a function of the same name
    "demo": "demo",
    "run": "run",
    "serve": "serve",
    "backfill": "backfill",
    "fleet": "fleet",
    "score": "score",
    "alerts": "alerts",
    "digest": "digest",
    "stories": "stories",
    "story": "story",
    "storylines": "storylines",
    "topics": "topics",
    "report": "report",
    "status": "status",
    "evaluate": "evaluate",
    "feedback": "feedback",
    "token create": "token_create",
    "token list": "token_list",
    "token revoke": "token_revoke",
    "sinks dead": "sinks_dead",
    "sinks retry": "sinks_retry",
    "store copy": "store_copy",
    "store check": "store_check",
    "store prune": "store_prune",
    "store export": "store_export",
    "reproduce": "reproduce",
    "bench": "bench",
    "prepare": "prepare",
}
GROUPS = {
    "sinks": "See what sinks did not take, and have it tried again.",
    "store": "Keep a store for months: copy, check, prune and export it.",
    "token": "Say who may use the service.",
}
SAVING = ("demo", "run", "serve", "backfill", "fleet")
"""Commands that keep what they have finished when they are interrupted."""

HELP = "Point it at a stream of text; it tells you what is new, why, and which story it belongs to."

INTERRUPTIBLE = ("run", "backfill", "fleet", "score", "serve")
"""Commands that answer Ctrl-C and SIGTERM themselves once they have begun to read; until then they end at once."""

INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 error, 2 usage, 130 interrupted."""
    if arguments is None:  # a program of its own, not a call from another
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, end_at_once)
    from firststory.cli.application import call

    call(list(sys.argv[1:] if arguments is None else arguments))


def end_at_once(number: int, frame: Any) -> None:
    """While the program is being loaded nothing is to be saved, and an exception could get lost in an import."""
    os.write(sys.stderr.fileno(), b"firststory: interrupted.\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
