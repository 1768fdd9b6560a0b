"""What `firststory serve` does with its options: settings, sources, who writes the store, and what is said."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firststory import logs
from firststory._version import __version__
from firststory.cli import options
from firststory.cli.guard import complain
from firststory.cli.sinking import named_sinks, wanted_sinks
from firststory.errors import MissingExtraError, ParameterError, StoreError
from firststory.pipeline.opening import open_run
from firststory.settings import resolve
from firststory.sources.files import STDIN
from firststory.sources.opening import identity_of, open_sources
from firststory.sources.source import Options, Source
from firststory.store.engine import database_of, holds_store, parse_url
from firststory.store.store import Store

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

NAMED_SINKS = tuple[Sequence[str] | None, Sequence[str] | None, Sequence[str] | None]


class ServiceWanted:
    """The service that was asked for; mistakes are told before anything is made."""

    def __init__(
        self,
        given: Mapping[str, Any],
        config: Path | None,
        sources: Sequence[str],
        sinks: NAMED_SINKS,
        *,
        follow: bool,
        quiet: bool,
    ) -> None:
        self._named = options.gathered({**given, "sinks": named_sinks(*sinks)}, config)
        self._url = options.needed_store(self._named)
        self._sources, self._follow, self._quiet = list(sources), follow, quiet
        self._log: FilteringBoundLogger | None = None
        if STDIN in sources:
            raise ParameterError(
                owner="firststory serve",
                parameter="SOURCE",
                allowed="a file or an address",
                received="-, standard input",
                remedy="Push documents instead: POST /documents.",
                message="A service does not read standard input.",
            )

    def serve(self, *, read_only: bool, **chosen: Any) -> None:
        """Serve until told to stop."""
        try:
            from firststory.serve.options import ServiceOptions
            from firststory.serve.page import assets
            from firststory.serve.server import serve, why_not_claimed
            from firststory.serve.stream_process import StreamProcess
        except ImportError as error:
            raise MissingExtraError("firststory serve", error.name or "fastapi", "serve") from error
        asked = resolve(self._named)
        if asked.log_format is not None:
            self._log = logs.begin(asked.log_format, asked.log_level)
            self._log.info("start", version=__version__, store=database_of(parse_url(self._url)).name)
        limit = asked.max_document_bytes
        wanted = ServiceOptions(read_only=read_only, max_document_bytes=limit, **chosen)
        if problem := assets.make():
            self._say(problem)
        if read_only:
            self._refuse_sources("--read-only was given.")
            serve(self._url, wanted, why_read_only="it was started with --read-only.", say=self._say)
            return
        for source in opened_sources(
            self._named, self._url, self._sources, follow=self._follow
        ):  # mistakes are told now
            source.close()
        wanted_sinks(self._named)
        if holds_store(self._url) and (why := _why_not_writable(self._url)):
            self._refuse_sources(why)
            self._say(f"{why} It is only shown.")
            serve(self._url, replace(wanted, read_only=True), why_read_only=why, say=self._say)
            return
        _, store = open_run(self._named, self._url)
        with store:
            why = why_not_claimed(store)
        if why:
            self._refuse_sources(why)
            self._say(f"{why} It is shown as it grows; documents are not taken here.")
            serve(self._url, wanted, why_read_only=why, say=self._say)
            return
        task = {"named": self._named, "url": self._url, "sources": self._sources, "follow": self._follow}
        stream = StreamProcess([sys.executable, "-m", "firststory.cli.judging"], task, self._say)
        serve(self._url, wanted, stream=stream, say=self._say)

    def _refuse_sources(self, why: str) -> None:
        if self._sources:
            raise ParameterError(
                owner="firststory serve",
                parameter="SOURCE",
                allowed="left out where the store is only shown",
                received=", ".join(self._sources),
                remedy="Leave the sources out to show the store as it is.",
                message=f"Sources cannot be followed: {why}",
            )

    def _say(self, sentence: str) -> None:
        if self._log is not None:
            logs.tell(self._log, sentence)
        elif not self._quiet:
            complain(sentence)


def opened_sources(named: Mapping[str, Any], url: str, sources: Sequence[str], *, follow: bool) -> list[Source]:
    """The sources that were named, opened to go on from where the store stands."""
    settings = resolve(named)
    reading = {
        "format": settings.format,
        "max_document_bytes": settings.max_document_bytes,
        "columns": settings.columns,
    }
    chosen = Options(
        identity=identity_of(url),
        max_document_bytes=settings.max_document_bytes,
        allow_private_addresses=settings.allow_private_addresses,
        poll_seconds=settings.poll,
        columns=settings.columns,
        follow=follow,
        read_file=reading,
    )
    return open_sources(sources, chosen)


def _why_not_writable(url: str) -> str:
    """Why a store that is there cannot be written, in words; empty where it can."""
    try:
        with Store(url, create=False) as store:
            return "" if store.is_writable() else f"The store {store.name} cannot be written by this user."
    except StoreError as error:
        # Whoever may not even read it is told so by whoever reads it next.
        return error.without_owner
