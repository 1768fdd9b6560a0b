"""`firststory backfill`: years of archives into a store, as quickly as one stream can be judged."""

from __future__ import annotations

from typing import Annotated

import typer

from firststory.cli import options


def backfill(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Files, folders and globs, oldest first.")],
    store: options.StoreUrl = None,
    engine: options.Engine = None,
    cores: options.Cores = None,
    detector: options.Detector = None,
    budget: options.Budget = None,
    false_alerts: options.FalseAlerts = None,
    source_families: options.SourceFamilies = None,
    step: options.Step = None,
    topics: options.Topics = None,
    topic_step: options.TopicStep = None,
    language: options.Language = None,
    segmenter: options.Segmenter = None,
    window: options.Window = None,
    vectors: options.Vectors = None,
    vector_words: options.VectorWords = None,
    format: options.Format = None,
    columns: options.Columns = None,
    max_document_bytes: options.MaxDocumentBytes = None,
    save_every: options.SaveEvery = None,
    config: options.Config = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Fill a store from archives; run again to resume where it stopped.

    The store is, byte for byte, the one that firststory run would have left. While one step is judged, the next ones
    are read and unpacked in a thread of their own, and those before are written in another; with --vectors their texts
    are encoded meanwhile, and an engine shares that out over threads or a cluster, as it does with the blocks of the
    detectors l1 and l1-batch. The judging itself goes one document after another. No alert is pushed: nobody wants
    those of last year.
    """
    from contextlib import closing, nullcontext
    from dataclasses import replace

    from firststory.cli.interrupt import interruptible
    from firststory.cli.output import console
    from firststory.cli.preparing import compiling_seconds
    from firststory.cli.progress import Progress
    from firststory.cli.summary import print_summary
    from firststory.cli.unread import Unread
    from firststory.digest.words import PUSHED
    from firststory.errors import ParameterError
    from firststory.pipeline.garbage import tune_collection
    from firststory.pipeline.opening import open_run, opened_engine, overlaps
    from firststory.pipeline.read_ahead import ARCHIVE_STEPS
    from firststory.pipeline.runner import Runner
    from firststory.sources.files import STDIN, Meter, are_whole, expand, read_all
    from firststory.sources.opening import is_live, with_folders
    from firststory.vitals import Vitals

    given = {
        "store": store, "engine": engine, "cores": cores, "detector": detector, "budget": budget,
        "false_alerts": false_alerts,
        "source_families": source_families, "step": step, "topics": topics, "topic_step": topic_step,
        "language": language, "segmenter": segmenter, "window": window, "vectors": vectors,
        "vector_words": vector_words, "format": format, "columns": columns,
        "max_document_bytes": max_document_bytes, "save_every": save_every,
    }  # fmt: skip
    named = options.gathered(given, config)
    url = options.needed_store(named)
    if is_live(files) or STDIN in files:
        raise ParameterError(
            owner="backfill",
            parameter="FILE",
            allowed="files, folders or globs",
            received=next(name for name in files if is_live([name]) or name == STDIN),
            remedy="Follow what has no end with: firststory run",
        )
    names = expand(with_folders(files))
    meter = Meter(names)
    settings, opened = open_run(named, url)
    screen = console()
    with (
        opened,
        interruptible() as interrupt,
        Progress(meter, screen, quiet) as progress,
        opened_engine(settings, progress.say) as at_work,
    ):
        tune_collection()
        runner = Runner(settings, opened, progress.say, engine=at_work)
        positions = opened.positions()
        unread = Unread(positions)
        before = opened.status()
        reading = {name: getattr(settings, name) for name in ("format", "max_document_bytes", "columns")}
        arrivals = unread.watch(read_all(names, positions, progress.say, meter, **reading))
        vitals = Vitals(waited=compiling_seconds)
        progress.begin(vitals)
        if overlaps(settings) or at_work is not None:
            steps = runner.run_overlapped(arrivals, lambda: not interrupt.wanted, together=ARCHIVE_STEPS)
        else:
            steps = runner.run(interrupt.until_wanted(arrivals, flush=False), never_wait=are_whole(names))
        with runner.placing_beside() if overlaps(settings) else nullcontext(), closing(steps):  # before the store is
            for done in steps:
                vitals.count(done, sum(alert.kind in PUSHED for alert in done.alerts))
                # Alerts of years ago are for reading afterwards.
                progress.advance(replace(done, alerts=()), vitals.is_due())
        interrupt.check()
        rate = vitals.rate()
        after = opened.status()
        gate = runner.core.parts.gate
    if not quiet:
        confidence = None if gate.is_sure else gate.confidence()
        print_summary(screen, before, after, rate, opened.name, confidence, runner.encoder)
    unread.check()
