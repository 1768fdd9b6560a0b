"""The command-line reference, generated from the commands themselves: `scripts/cli-page` writes docs/cli.md."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any, get_args, get_type_hints

from firststory.cli.main import COMMANDS, HELP

HEAD = f"""# Command line

{HELP}

Written by `scripts/cli-page` from the commands themselves.
"""


def page() -> str:
    """The whole page as Markdown."""
    return HEAD + "".join(_section(name) for name in COMMANDS)


def _section(name: str) -> str:
    function = getattr(import_module(f"firststory.cli.{COMMANDS[name]}"), COMMANDS[name])
    hints = get_type_hints(function, include_extras=True)
    arguments, options = [], []
    for parameter in inspect.signature(function).parameters.values():
        about: Any = get_args(hints[parameter.name])[-1]
        is_option = type(about).__name__ == "OptionInfo"
        if is_option:
            # Within Annotated, typer takes the first name for a default; it sorts that out when the command is made.
            first = [about.default] if str(about.default).startswith("-") else []
            names = [*first, *about.param_decls] or ["--" + parameter.name.replace("_", "-")]
            shown = ", ".join(f"`{one}`" for one in names)
            options.append(f"| {shown} | {_plain(about.help)}{_default(about, parameter.default)} |")
        else:
            metavar = about.metavar or parameter.name.upper()
            arguments.append(metavar)
            options.append(f"| `{_plain(metavar)}` | {_plain(about.help)} |")
    usage = " ".join(["firststory", name, "[OPTIONS]", *arguments])
    table = "| | |\n|---|---|\n" + "\n".join(options)
    return f"\n## {name}\n\n```text\n{usage}\n```\n\n{inspect.getdoc(function)}\n\n{table}\n"


def _plain(text: str | None) -> str:
    return (text or "").replace("|", "\\|")


def _default(about: Any, default: Any) -> str:
    """The help of a setting names its default; the others have it in the signature."""
    if default in (None, False, inspect.Parameter.empty) or "(default:" in (about.help or ""):
        return ""
    return f" (default: {default})"
