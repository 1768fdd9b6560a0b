"""What `reproduce` and `bench` share: run registered sections, print them, and keep them in a folder.

With `--out DIR` each section is written to DIR/results/NAME.md, figures beside it, and DIR/RESULTS.md is rebuilt from
all sections that lie there: one command refreshes one section and leaves the others as they were measured.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from firststory.errors import FirststoryError, MissingExtraError, not_one_of

PEERS = ("gensim", "spams")
"""Packages that only the extra `bench` brings."""
QUICK_NOTE = "*Quick version: small sizes that only show that the command works; the figures mean nothing.*"


def choose(owner: str, names: list[str] | None, known: Mapping[str, str]) -> list[str]:
    """The names asked for, or all if none is given; an unknown name is an error that lists the known ones."""
    for name in names or ():
        if name not in known:
            raise not_one_of(owner, "NAME", known, name, f"Type: {owner} --list")
    return list(names or known)


def section(title: str, body: str, command: str, quick: bool) -> str:
    """One section as it is printed and written: heading, the command that made it, and what it measured."""
    text = body.strip()
    if not text.startswith("#"):
        text = f"## {title}\n\n{text}"
    if command not in text:
        heading, _, rest = text.partition("\n")
        text = f"{heading}\n\n`{command}`\n\n{rest.strip()}"
    if quick:
        heading, _, rest = text.partition("\n")
        text = f"{heading}\n\n{QUICK_NOTE}\n\n{rest.strip()}"
    return text + "\n"


def show(markdown: str) -> None:
    """Rich on a terminal, the Markdown itself otherwise."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(markdown))
    else:
        print(markdown, flush=True)


def rebuild(folder: Path, title: str, command: str, order: list[str]) -> Path:
    """Write RESULTS.md from every section in the folder, in the order of the registry."""
    found = {path.stem: path for path in sorted((folder / "results").glob("*.md"))}
    names = [name for name in order if name in found] + [name for name in found if name not in order]
    parts = [f"# {title}\n\nEach section is the output of the command that it names. Written by `{command}`."]
    for name in names:
        text = found[name].read_text(encoding="utf-8").strip()
        # Figures lie beside the sections; seen from here they are one folder down.
        parts.append(re.sub(r"(!\[[^\]]*\]\()(?![a-z]+:|/|results/)", r"\1results/", text))
    target = folder / "RESULTS.md"
    target.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return target


def run_all(names: list[str], make: Callable[[str], str], out: Path | None) -> list[str]:
    """Make, show and keep each section; one that fails does not stop the others. Returns the failed names."""
    failed = []
    for name in names:
        print(f"{name} …", file=sys.stderr, flush=True)
        try:
            text = make(name)
        except FirststoryError as error:
            if len(names) == 1:
                raise
            print(f"firststory: {name}: {error.without_owner}", file=sys.stderr)
            failed.append(name)
            continue
        show(text)
        if out is not None:
            (out / "results").mkdir(parents=True, exist_ok=True)
            (out / "results" / f"{name}.md").write_text(text, encoding="utf-8")
    return failed


@contextmanager
def needing_lab(owner: str) -> Iterator[None]:
    """Within this block a package that is missing is one of the extra `lab`, or a peer to compare with."""
    try:
        yield
    except ModuleNotFoundError as error:
        root = (error.name or "").partition(".")[0]
        if isinstance(error, FirststoryError) or root == "firststory":
            raise
        raise MissingExtraError(owner, root, "bench" if root in PEERS else "lab") from error


def list_titles(registry: Mapping[str, str], package: str) -> None:
    """Name and title of everything that is registered."""
    from importlib import import_module

    width = max((len(name) for name in registry), default=0)
    for name, module in registry.items():
        with needing_lab("firststory"):
            title = import_module(f"{package}.{module}").TITLE
        print(f"{name:<{width}}  {title}")
