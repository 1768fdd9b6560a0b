"""`firststory evaluate`: detectors side by side on a labelled stream, through the very step that production takes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from firststory.cli import options

if TYPE_CHECKING:
    from firststory.datasets.streams import TextStream
    from firststory.evaluate.comparison import Comparison
    from firststory.evaluate.production import Evaluation
    from firststory.records import Document
    from firststory.settings import Settings


def evaluate(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Documents with a label: those of one story share it.")],
    detector: Annotated[
        list[str] | None,
        typer.Option("--detector", help=f"A detector, again for another: {options.DETECTORS} (default: fused)."),
    ] = None,
    budget: options.Budget = None,
    step: options.Step = None,
    language: options.Language = None,
    window: options.Window = None,
    vectors: options.Vectors = None,
    vector_words: options.VectorWords = None,
    format: options.Format = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where report.html and det.png are written.")] = Path(),
    json: options.Json = False,
    config: options.Config = None,
) -> None:
    """Judge detectors, alerts and stories on a labelled stream; tables and report.html.

    The stream goes through the same step as `run`: every document is judged by the past alone. Novelty: the first
    document of each label is a first story (a label may be a list); documents without one are streamed but do not
    count. Alerts: a label of two documents or more is an event; how many were found, how soon, how often again.
    Stories and storylines are compared with the labels as they stand at the end.
    """
    from firststory.cli import output
    from firststory.cli.evaluation_tables import show
    from firststory.datasets.streams import TextStream
    from firststory.errors import ParameterError
    from firststory.evaluate.comparison import compare
    from firststory.evaluate.report import write_report
    from firststory.pipeline.build import check_settings

    given = {
        "budget": budget, "step": step, "language": language, "window": window, "vectors": vectors,
        "vector_words": vector_words, "format": format, "topics": "none",
    }  # fmt: skip
    common = options.settings_without_store(given, config)
    names = list(dict.fromkeys(detector or [common.detector]))
    each = {name: replace(common, detector=name) for name in names}
    for settings in each.values():
        check_settings(settings)
    stream = TextStream(Path(file).name.partition(".")[0], tuple(_documents(file, each[names[0]])))
    if not stream.first_story.any():
        raise ParameterError(
            owner="firststory evaluate",
            parameter="FILE",
            allowed="documents with a label",
            received=f"{file}: {len(stream)} documents without one",
            remedy='Give the documents of a story the same "label".',
            message=f"{file} has no labels: nothing to evaluate against.",
        )
    options.make_folder(out, "firststory evaluate", "--out")  # before the work, not after it
    result = compare(stream.name, [_run(stream, settings) for settings in each.values()], each[names[0]].budget)
    page = write_report(result, out / "report.html")
    figure = _draw(result, out / "det.png")
    if json:
        output.write_json(result.table())
        return
    show(result)
    print(f"Report: {page}\n{figure}")


def _documents(file: str, settings: Settings) -> list[Document]:
    from firststory.cli.guard import complain
    from firststory.digest.words import counted
    from firststory.records import Quarantined
    from firststory.sources.files import expand, read

    found, bad = [], 0
    for name in expand([file]):
        for item in read(
            name,
            format=settings.format,
            max_document_bytes=settings.max_document_bytes,
            columns=settings.columns,
            say=complain,
        ):
            if isinstance(item, Quarantined):
                bad += 1
            elif isinstance(item, tuple):
                found.append(item[0])
    if bad:
        complain(f"{counted(bad, 'line')} could not be read: left out")
    return found


def _run(stream: TextStream, settings: Settings) -> Evaluation:
    """What one detector says of the whole stream, with a bar that shows how far it is."""
    import sys

    from rich.console import Console
    from rich.progress import Progress

    from firststory.cli.guard import complain
    from firststory.evaluate.production import evaluate_stream

    screen = Console(stderr=True)
    with Progress(console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task(f"{settings.detector:<14}", total=len(stream))
        result = evaluate_stream(stream, settings, progress=lambda done: bar.update(task, completed=done), say=complain)
    if not screen.is_terminal:
        print(f"{settings.detector}: {len(result.score):,} documents in {result.seconds:.1f} s", file=sys.stderr)
    return result


def _draw(result: Comparison, path: Path) -> str:
    """The DET curves of all detectors in one figure; the report has them too, so matplotlib may be missing."""
    from firststory.errors import MissingExtraError
    from firststory.plot import det

    try:
        axes = det({score.name: score.det for score in result.scores})
    except MissingExtraError as error:
        return f"No {path.name}, only the curves in the report. {error.without_owner}"
    axes.figure.savefig(path, dpi=150, bbox_inches="tight")
    return f"Curves: {path}"
