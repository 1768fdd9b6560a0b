"""`firststory reproduce`: a table or figure of the papers, published beside measured."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def reproduce(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Which ones; see --list.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="Print the names and titles.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="All of them.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A small version that shows that the command works.")] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write DIR/results/NAME.md, figures and DIR/RESULTS.md.")
    ] = None,
) -> None:
    """Reproduce a table or figure of the papers: published beside measured."""
    import tempfile
    from importlib import import_module

    from firststory.cli import results
    from firststory.errors import ParameterError
    from firststory.lab.experiments import EXPERIMENTS

    if list_:
        results.list_titles(EXPERIMENTS, "firststory.lab.experiments")
        return
    if not names and not all_:
        raise ParameterError(
            owner="firststory reproduce",
            parameter="NAME",
            allowed="a name, or the option --all or --list",
            received="nothing",
            remedy="Type: firststory reproduce --list",
            message="Name an experiment, or give --all for all of them.",
        )
    chosen = results.choose("firststory reproduce", None if all_ else names, EXPERIMENTS)
    figures = out / "results" if out else Path(tempfile.mkdtemp(prefix="firststory-figures-"))
    figures.mkdir(parents=True, exist_ok=True)

    def make(name: str) -> str:
        with results.needing_lab("firststory reproduce"):
            module = import_module(f"firststory.lab.experiments.{EXPERIMENTS[name]}")
            body = module.run(quick=quick, out=figures)
        return results.section(module.TITLE, body, f"firststory reproduce {name}", quick)

    failed = results.run_all(chosen, make, out)
    if out:
        results.rebuild(out, "The papers' tables and figures", "firststory reproduce --all", list(EXPERIMENTS))
    elif any(figures.iterdir()):
        print(f"Figures: {figures}")
    else:
        figures.rmdir()
    if failed:
        raise typer.Exit(1)
