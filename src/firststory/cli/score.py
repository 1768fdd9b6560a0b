"""`firststory score`: JSON lines in, JSON lines out, one per document, in order."""

from __future__ import annotations

from typing import Annotated

import typer

from firststory.cli import options


def score(
    file: Annotated[str, typer.Argument(metavar="[FILE|-]", help="A file, or - for standard input.")] = "-",
    detector: options.Detector = None,
    budget: options.Budget = None,
    step: options.Step = None,
    language: options.Language = None,
    segmenter: options.Segmenter = None,
    window: options.Window = None,
    vectors: options.Vectors = None,
    vector_words: options.VectorWords = None,
    format: options.Format = None,
    columns: options.Columns = None,
    max_document_bytes: options.MaxDocumentBytes = None,
    config: options.Config = None,
) -> None:
    """Score a stream: JSON lines in, JSON lines out, one per document, in order. Nothing is stored.

    Each line has id, time, title, source, url, novelty, p_value, is_novel, terms, nearest, story, kind, duplicate_of
    and sentence.
    Results come one step at a time: with --step 1 each line is answered at once.
    """
    from firststory.cli.quick_start import load_estimators

    load_estimators()  # before anything else does

    from collections import Counter

    from firststory.cli.guard import complain
    from firststory.cli.interrupt import interruptible
    from firststory.cli.output import write_json
    from firststory.cli.summary import encoder_speed
    from firststory.cli.unread import Unread
    from firststory.digest.words import counted
    from firststory.pipeline.garbage import tune_collection
    from firststory.pipeline.runner import Runner
    from firststory.sources.files import expand, read_all

    given = {
        "detector": detector, "budget": budget, "step": step, "language": language, "segmenter": segmenter,
        "window": window, "vectors": vectors, "vector_words": vector_words, "format": format, "topics": "none",
        "columns": columns, "max_document_bytes": max_document_bytes,
    }  # fmt: skip
    settings = options.settings_without_store(given, config)
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    with interruptible() as interrupt:
        tune_collection()
        runner = Runner(settings, None, complain)
        unread = Unread()
        arrivals = read_all(
            expand([file]),
            {},
            complain,
            format=settings.format,
            max_document_bytes=settings.max_document_bytes,
            columns=settings.columns,
            stdin=interrupt.standard_input(),
        )
        for done in runner.run(interrupt.until_wanted(unread.watch(arrivals), flush=True)):
            for verdict in done.verdicts:
                write_json(verdict.to_dict())
            counts.update(done.counts)
            reasons.update(bad.reason for bad in done.quarantined)
        interrupt.check()
    if counts["quarantined"]:
        by_reason = ", ".join(f"{reason} {number}" for reason, number in sorted(reasons.items()))
        complain(f"{counted(counts['quarantined'], 'line')} could not be read ({by_reason})")
    if counts["redelivered"]:
        complain(f"{counted(counts['redelivered'], 'document')} with an id that came before: dropped")
    gate = runner.core.parts.gate
    if counts["scored"] and not gate.is_sure:
        complain(gate.confidence())
    if runner.encoder is not None:
        complain(encoder_speed(runner.encoder))
    unread.check()
    if not counts["seen"]:
        complain("0 documents: the input is empty")
