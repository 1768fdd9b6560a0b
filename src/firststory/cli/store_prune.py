"""`firststory store prune`: texts that are old enough go, what they came to stays."""

from __future__ import annotations

from typing import Annotated

import typer

from firststory.cli import options


def store_prune(
    older_than: Annotated[
        str,
        typer.Option("--older-than", metavar="AGE", help="How long before the end of the stream: 90d, 26w, or a day."),
    ],
    store: options.StoreUrl = None,
    json: options.Json = False,
    config: options.Config = None,
) -> None:
    """Remove the texts, evidence and vectors of old documents; stories, storylines and alerts stay.

    Of every document its id, time, title, source, address and verdict stay, so that the stream goes on exactly as
    before. Documents that an alert or a story shows, or that someone marked, stay whole. What a saved model may be
    replayed from stays too. A run may go on meanwhile; the file shrinks when nothing else writes to it.
    """
    from firststory.cli import output
    from firststory.cli.rows_progress import rows_progress
    from firststory.errors import ParameterError
    from firststory.pipeline.since import parse_since
    from firststory.store.retention import give_back_space, prune

    with options.open_store(store, config, writes=True) as opened:
        before = parse_since(older_than, opened.last_time())
        if before is None:
            raise ParameterError(
                owner="store prune",
                parameter="--older-than",
                allowed="a day, or an age in a stream with times",
                received=older_than,
                remedy="The documents of this store have no times: nothing can be said to be old.",
                message="The end of this stream is not known.",
            )
        size = opened.size()
        with rows_progress(None) as advance:
            done = prune(opened, before, lambda documents: advance("documents", documents))
            advance("giving space back", 0)
            shrunk = give_back_space(opened) if done.documents else True
        sizes = size, opened.size()
    if json:
        told = done._asdict() | {"before": before.isoformat(), "bytes_before": sizes[0], "bytes_after": sizes[1]}
        output.write_json(told)
        return
    screen = output.console(soft_wrap=True)
    screen.print(
        f"{done.documents:,} documents from before {before:%Y-%m-%d %H:%M} lost their texts; {done.kept:,} stay whole, "
        f"because alerts or stories show them. Also removed: {done.topics:,} old topics and {done.quarantined:,} "
        "quarantined lines.",
        markup=False,
    )
    if done.held_by_model:
        screen.print(
            "Later steps of that time stay until the model is saved again: a replay may need them.", markup=False
        )
    screen.print(f"The store had {sizes[0] / 1e6:,.1f} MB and has {sizes[1] / 1e6:,.1f} MB.", markup=False)
    if not shrunk:
        screen.print(
            "A run is writing to it: the space is used again, and the file shrinks at another time.", markup=False
        )
