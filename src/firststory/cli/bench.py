"""`firststory bench`: speed and memory beside the peers that are installed."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import typer


def bench(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Which ones; all if none.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="Print the names and titles.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A small version that shows that the command works.")] = False,
    seconds: Annotated[
        float | None, typer.Option(metavar="NUMBER", min=1, help="How long to load the service (serve alone).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write DIR/results/NAME.md, figures and DIR/RESULTS.md.")
    ] = None,
) -> None:
    """Measure speed and memory beside the peers that are installed."""
    from importlib import import_module

    from firststory.cli import results
    from firststory.errors import ParameterError
    from firststory.lab.benchmarks import BENCHMARKS

    if list_:
        results.list_titles(BENCHMARKS, "firststory.lab.benchmarks")
        return

    chosen = results.choose("firststory bench", names, BENCHMARKS)
    if seconds is not None and chosen != ["serve"]:
        raise ParameterError(
            owner="firststory bench",
            parameter="--seconds",
            allowed="left out unless the only benchmark is serve",
            received=", ".join(names or ["all"]),
            remedy="Type: firststory bench serve --seconds 60",
        )

    figures = None if out is None else out / "results"
    if figures is not None:
        figures.mkdir(parents=True, exist_ok=True)
    length = "" if seconds is None else f" --seconds {seconds:g}"

    def make(name: str) -> str:
        with results.needing_lab("firststory bench"):
            module = import_module(f"firststory.lab.benchmarks.{BENCHMARKS[name]}")
            body = module.run(quick=quick, **_asked(module.run, seconds=seconds, out=figures))
        return results.section(module.TITLE, body, f"firststory bench {name}{length}", quick)

    failed = results.run_all(chosen, make, out)
    if out:
        results.rebuild(out, "Speed and memory beside peers", "firststory bench", list(BENCHMARKS))
    if failed:
        raise typer.Exit(1)


def _asked(run: Callable[..., str], **values: Any) -> dict[str, Any]:
    """What was given of the parameters that only some benchmarks have."""
    has = signature(run).parameters
    return {name: value for name, value in values.items() if value is not None and name in has}
