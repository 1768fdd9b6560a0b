"""The settings, the store and the engine of a run: read once, checked once, and nothing is written before that."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, overload

from firststory.pipeline.build import check_settings
from firststory.pipeline.protocols import Detector
from firststory.settings import Settings, resolve
from firststory.store.engine import holds_store
from firststory.store.store import Store

if TYPE_CHECKING:
    from firststory.engines.engine import Engine


@overload
def open_run(named: Mapping[str, Any], store: str, detector: Detector | None = None) -> tuple[Settings, Store]: ...
@overload
def open_run(
    named: Mapping[str, Any], store: str | None, detector: Detector | None = None
) -> tuple[Settings, Store | None]: ...
def open_run(
    named: Mapping[str, Any], store: str | None, detector: Detector | None = None
) -> tuple[Settings, Store | None]:
    """The settings that were named somewhere (`settings.gather`), completed and checked, and the store, opened.

    The settings of a store that exists stand in for the defaults. A mistake leaves no new store behind, and closes one
    that was opened. `detector` is one of your own, of whose scores nothing is known.
    """
    exists = store is not None and holds_store(store)
    opened = Store(store, create=False) if store is not None and exists else None
    try:
        settings = resolve(named, opened.settings() if opened else None)
        check_settings(settings, detector)
    except BaseException:
        if opened is not None:
            opened.close()
        raise
    return settings, Store(store) if store is not None and opened is None else opened


def overlaps(settings: Settings) -> bool:
    """Whether a run of its own takes a second core."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores > 1 if settings.cores == "auto" else settings.cores == 2


def opened_engine(settings: Settings, say: Callable[[str], None]) -> AbstractContextManager[Engine | None]:
    """The engine that the settings name, to be closed after the run; without one None, and nothing is loaded."""
    if settings.engine == "none":
        return nullcontext()
    from firststory.engines.opening import open_engine

    return open_engine(settings.engine, say)
