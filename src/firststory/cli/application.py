"""The command-line application, put together from its commands.

A command's file imports only typer at its top and the rest inside its function; when the command line names a
command, the other files are not even opened.
"""

from __future__ import annotations

from importlib import import_module
from typing import Annotated

import typer

from firststory._version import __version__
from firststory.cli.guard import guarded
from firststory.cli.help_flags import PlainCommand, PlainGroup
from firststory.cli.main import COMMANDS, GROUPS, HELP, INTERRUPTIBLE, SAVING


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
        cls=PlainGroup,
        help=HELP,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(options)
    groups: dict[str, typer.Typer] = {}
    for name in names:
        function = getattr(import_module(f"firststory.cli.{COMMANDS[name]}"), COMMANDS[name])
        *group, last = name.split()
        place = app
        for one in group:
            if one not in groups:
                groups[one] = typer.Typer(cls=PlainGroup, help=GROUPS[one], no_args_is_help=True)
                app.add_typer(groups[one], name=one)
            place = groups[one]
        command = guarded(function, debug=debug, saves=name in SAVING, interruptible=name in INTERRUPTIBLE)
        place.command(last, cls=PlainCommand)(command)
    return app


def call(given: list[str]) -> None:
    """Run a command line, and exit."""
    debug = "--debug" in given
    given = [argument for argument in given if argument != "--debug"]
    # Typer does not show the commands of a group that has one command only, so it always gets two or more.
    named = [name for name in COMMANDS if name.split()[:1] == given[:1]]
    spare = [name for name in COMMANDS if name not in named][:1]
    app = build((*named, *spare) if named else tuple(COMMANDS), debug)
    app(args=given, prog_name="firststory")
