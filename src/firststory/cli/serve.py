"""`firststory serve`: REST, live events and the page on a store."""

from __future__ import annotations

from typing import Annotated

import typer

from firststory.cli import options


def serve(
    sources: Annotated[
        list[str] | None, typer.Argument(metavar="[SOURCE]...", help="What to follow beside what is pushed.")
    ] = None,
    store: options.StoreUrl = None,
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; others than this machine need a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="0 takes a free one.")] = 8765,
    read_only: Annotated[bool, typer.Option("--read-only", help="Only show the store; take nothing.")] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", metavar="NAME", help="Another name that it is reached under.")
    ] = None,
    rate_limit: Annotated[
        float, typer.Option(metavar="NUMBER", min=0, help="Requests a second of one client; 0: no limit.")
    ] = 100.0,
    certificate: Annotated[
        str | None, typer.Option(metavar="FILE", help="A certificate in PEM, to be reached by https.")
    ] = None,
    key: Annotated[str | None, typer.Option(metavar="FILE", help="Its private key in PEM.")] = None,
    proxy: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="A proxy in front, whose word on who asks is taken.")
    ] = None,
    max_inbox: Annotated[
        int, typer.Option(metavar="NUMBER", min=1, help="Pushed documents that may wait to be judged.")
    ] = 50_000,
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
    """Show a store to browsers and programs, and take documents: REST, live events and the page.

    Documents that are pushed (POST /documents) and those of the sources are judged in a process of its own. Where
    another run writes the store already, or --read-only is given, it only shows what is there. Only this machine can
    reach it, unless --host says otherwise: then a token is needed (firststory token create).
    """
    from firststory.cli.serving import ServiceWanted

    given = {
        "store": store, "detector": detector, "budget": budget, "false_alerts": false_alerts,
        "source_families": source_families, "step": step, "topics": topics, "topic_step": topic_step,
        "language": language, "segmenter": segmenter, "window": window, "vectors": vectors,
        "vector_words": vector_words, "format": format, "columns": columns,
        "max_document_bytes": max_document_bytes, "save_every": save_every, "notify_every": notify_every,
        "poll": poll, "allow_private_addresses": allow_private_addresses,
        "log_format": log_format, "log_level": log_level,
    }  # fmt: skip
    wanted = ServiceWanted(given, config, sources or [], (sink, exec, notify), follow=follow, quiet=quiet)
    wanted.serve(
        host=host,
        port=port,
        read_only=read_only,
        allowed_hosts=tuple(allow_host or ()),
        requests_per_second=rate_limit,
        burst=max(1, int(5 * rate_limit)),
        certificate=certificate,
        key=key,
        proxy=proxy,
        max_inbox=max_inbox,
    )
