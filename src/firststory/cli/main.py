"""The entry point. Commands are listed here and loaded when called, so that `--help` is quick.

A command's file imports only typer at its top and the rest inside its function; when the command line names a
command, the other files are not even opened.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Annotated

import typer

from firststory._version import __version__
from firststory.cli.guard import guarded

COMMANDS = {
    # name on the command line: its module in this package, with a function of the same name
    "demo": "demo",
    "run": "run",
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
    "reproduce": "reproduce",
    "bench": "bench",
}
SAVING = ("demo", "run")
"""Commands that keep what they have finished when they are interrupted."""

HELP = "Point it at a stream of text; it tells you what is new, why, and which story it belongs to."


def show_version(asked: bool) -> None:
    if asked:
        print(f"firststory {__version__}")
        raise typer.Exit


def options(
    version: Annotated[
        bool, typer.Option("--version", callback=show_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error (works anywhere).")] = False,
) -> None:
    """Options that stand before the command."""


def build(names: tuple[str, ...] = tuple(COMMANDS), debug: bool = False) -> typer.Typer:
    """The command-line application with some of its commands."""
    app = typer.Typer(
        help=HELP,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(options)
    for name in names:
        function = getattr(import_module(f"firststory.cli.{COMMANDS[name]}"), COMMANDS[name])
        app.command(name)(guarded(function, debug=debug, saves=name in SAVING))
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 error, 2 usage, 130 interrupted."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    given = [argument for argument in given if argument != "--debug"]
    # Typer does not show the commands of a group that has one command only, so it always gets two or more.
    named = [argument for argument in given[:1] if argument in COMMANDS]
    spare = [name for name in COMMANDS if name not in named][:1]
    app = build((*named, *spare) if named else tuple(COMMANDS), debug)
    app(args=given, prog_name="firststory")


if __name__ == "__main__":
    main()
