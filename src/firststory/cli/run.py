"""`firststory run`: follow sources into a store; run again to resume."""

from __future__ import annotations

from typing import Annotated

import typer

from firststory.cli import options


def run(
    sources: Annotated[
        list[str], typer.Argument(metavar="SOURCE", help="Files, globs, - for standard input, or addresses.")
    ],
    store: options.StoreUrl = None,
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
    engine: options.Engine = None,
    cores: options.Cores = None,
    sink: options.Sinks = None,
    exec: options.Exec = None,
    notify: options.Notify = None,
    notify_every: options.NotifyEvery = None,
    poll: options.Poll = None,
    allow_private_addresses: options.AllowPrivateAddresses = None,
    log_format: options.LogFormat = None,
    log_level: options.LogLevel = None,
    config: options.Config = None,
    follow: Annotated[bool, typer.Option("--follow", help="Wait at the end of files for what is appended.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Follow sources to their end and store what is found; run again to resume where it stopped.

    Confirmed events and turns of running stories are printed as they fire; firststory alerts shows them again.
    Files may be JSON lines, CSV, TSV, Parquet or plain lines, compressed with gzip, zstd, bzip2 or xz. A document has
    text, and may have id, time, title, source, url and vector; --map names them where they are called otherwise. What
    cannot be read is quarantined with its reason, and the stream continues. Standard input that is silent for a second
    is judged as far as it came, so that tail -f can be piped in.
    """
    from firststory.cli.quick_start import load_estimators

    load_estimators()  # before anything else does

    from contextlib import ExitStack, closing, suppress

    from firststory import logs
    from firststory.cli.inputs import WantedSources
    from firststory.cli.interrupt import interruptible
    from firststory.cli.output import console
    from firststory.cli.preparing import compiling_seconds
    from firststory.cli.progress import Progress
    from firststory.cli.run_log import RunLog
    from firststory.cli.sinking import named_sinks, wanted_sinks
    from firststory.cli.summary import print_summary
    from firststory.cli.unread import Unread
    from firststory.digest.words import PUSHED
    from firststory.errors import FirststoryError
    from firststory.kernels.preparing import listening
    from firststory.pipeline.garbage import tune_collection
    from firststory.pipeline.opening import open_run, opened_engine, overlaps
    from firststory.pipeline.runner import Runner
    from firststory.settings import resolve
    from firststory.sinks.delivery import Delivery
    from firststory.vitals import Vitals

    given = {
        "store": store, "detector": detector, "budget": budget, "false_alerts": false_alerts,
        "source_families": source_families, "step": step, "topics": topics, "topic_step": topic_step,
        "language": language, "segmenter": segmenter, "window": window, "vectors": vectors,
        "vector_words": vector_words, "format": format, "columns": columns,
        "max_document_bytes": max_document_bytes, "save_every": save_every, "engine": engine, "cores": cores,
        "sinks": named_sinks(sink, exec, notify), "notify_every": notify_every,
        "poll": poll, "allow_private_addresses": allow_private_addresses,
        "log_format": log_format, "log_level": log_level,
    }  # fmt: skip
    named = options.gathered(given, config)
    asked = resolve(named)
    log = None if asked.log_format is None else logs.begin(asked.log_format, asked.log_level)
    url = options.needed_store(named)
    wanted = WantedSources(sources, named, url, follow)
    sinks = wanted_sinks(named)
    settings, opened = open_run(named, url)
    meter = wanted.meter()
    screen = console()
    with (
        opened,
        interruptible() as interrupt,
        Progress(meter, screen, quiet) if log is None else RunLog(log) as progress,
        ExitStack() as stack,
    ):
        tune_collection()
        if not wanted.has_standard_input:  # what was read of it is judged first
            stack.enter_context(listening(interrupt.before_kernel))
        progress.start(
            store=opened.name,
            sources=wanted.names,
            sinks=[sink.name for sink in sinks],
            detector=settings.detector,
            step=settings.step,
            window=settings.window,
        )
        engine_used = stack.enter_context(opened_engine(settings, progress.say))
        runner = Runner(settings, opened, progress.say, engine=engine_used)
        if overlaps(settings) and wanted.never_wait:  # slow sources need no more than one core
            stack.enter_context(runner.placing_beside())
        positions = opened.positions()
        unread = Unread(positions)
        reading = stack.enter_context(wanted.open(positions, progress.say, meter, interrupt))
        delivery = stack.enter_context(
            Delivery(sinks, opened, settings.sink_kinds, settings.sink_attempts, progress.say)
        )
        before = opened.status()
        vitals = Vitals(reading.lag, compiling_seconds)
        progress.begin(vitals)

        def keep_vitals() -> None:
            with suppress(FirststoryError):  # what is wrong with the store is told by whoever writes results
                opened.keep_last_run(vitals.report())

        stack.callback(keep_vitals)
        # A live source may bring its first document later: nothing of it is held back.
        watched = reading.arrivals if wanted.is_live else unread.watch(reading.arrivals)
        arrivals = interrupt.until_wanted(watched, flush=wanted.has_standard_input)
        if overlaps(settings):
            # What was read from standard input is judged; it ends by itself.
            steps = runner.run_overlapped(arrivals, lambda: wanted.has_standard_input or not interrupt.wanted)
        else:
            steps = runner.run(arrivals, never_wait=wanted.never_wait)
        for done in stack.enter_context(closing(steps)):  # before the sources and the store are
            reading.acknowledge(done.positions)
            delivery.wake()
            vitals.count(done, sum(alert.kind in PUSHED for alert in done.alerts))
            is_due = vitals.is_due()
            if is_due:
                keep_vitals()
            progress.advance(done, is_due)
        interrupt.check()
        rate = vitals.rate()
        after = opened.status()
        gate = runner.core.parts.gate
    if not quiet and log is None:
        confidence = None if gate.is_sure else gate.confidence()
        print_summary(screen, before, after, rate, opened.name, confidence, runner.encoder)
    unread.check()
