"""The whole stream in ten lines of Python: documents in, verdicts out; alerts, stories and topics at any time."""

from __future__ import annotations

import os
import warnings
from collections import Counter, OrderedDict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from sqlalchemy.engine import make_url

from firststory.errors import DocumentError, ParameterError, SourceError
from firststory.pipeline.build import missing_meaning
from firststory.pipeline.frames import frame_of
from firststory.pipeline.opening import open_run, opened_engine
from firststory.pipeline.protocols import Detector
from firststory.pipeline.runner import Runner
from firststory.pipeline.since import Since, parse_since
from firststory.records import Alert, Arrival, Document, Position, Quarantined, Step, Story, Storyline, Topic, Verdict
from firststory.settings import gather
from firststory.sources.files import expand, read_all
from firststory.sources.frames import row_of, rows_of
from firststory.sources.parse import content_id, document_from, document_of
from firststory.store.alert_reader import KINDS, checked_kinds
from firststory.store.engine import parse_url
from firststory.store.store import Store

SOURCE = "python"
MAX_TEXT_IDS = 50_000
MAX_ALERTS = 1_000
"""Alerts that are kept in memory where there is no store; as many storylines."""


class Monitor:
    """Watches a stream of documents and says what is new, why, and which story it belongs to.

    Parameters
    ----------
    store : str, path or None, default=None
        "news.db", "sqlite:///news.db" or "postgresql://user@host/database": results are kept there, and the next
        monitor goes on from it. None keeps nothing beyond what the detector itself remembers: memory stays bounded,
        for ever.
    detector : str or estimator, default="fused"
        A name (`firststory run --help` lists them) or a detector of your own.
    budget : str or float, default="20/day"
        A ceiling on the alerts that are pushed, never a quota: expect about half of it. "20/day", "0.5%", or a fixed
        threshold on the novelty.
    step : int or str, default=100
        Documents that are judged together: a number, or a time as "1d". 1 answers every document at once.
    topics : {"storylines", "nmf", "none"}, default="storylines"
        Topics beside the stories: the storylines that make up a part of the latest documents, or a topic model.

        What is left out (None) is as the environment (`FIRSTSTORY_BUDGET`) or `firststory.toml` in the current folder
        says, else as the store was begun with, else as said here. The store alone is never taken from there.
    **settings
        Any other setting by its name: `columns` (fields that have other names in the input: {"text": "body"}),
        `false_alerts` (alerts per day that chance alone may bring),
        `source_families` (a mapping from sources to the family that they count as), `language`, `window`, `vectors`
        (the folder of a sentence encoder), `vector_words`, `max_terms`, `seed`, `save_every`, `engine` (who computes
        the blocks of a step: "threads:2", "dask://host:8786"), `cores` (2: documents are asked for ahead, by another
        thread, and verdicts come some steps later; the results are the same. Without it, as with 1, no document is
        asked for before the verdicts on the step before it are handed out).

    Examples
    --------
    A store has one writer at a time: in a `with` block it is given back at the end (or call `close()`).

    >>> import firststory as fs
    >>> texts = ["Flood closes Bremen bridge", "Bremen bridge closed by flood", "Mayor of Oslo resigns"]
    >>> with fs.Monitor(detector="neighbour", budget=0.5, step=1, topics="none", language="en") as monitor:
    ...     for verdict in monitor.watch(texts):
    ...         print(round(verdict.novelty, 1), verdict.is_novel, verdict.story)
    ...     print([story.title for story in monitor.stories()])
    1.0 True s1
    0.0 False s1
    1.0 True s2
    ['Flood closes Bremen bridge', 'Mayor of Oslo resigns']
    """

    def __init__(
        self,
        store: str | os.PathLike[str] | None = None,
        detector: str | Detector | None = None,
        budget: str | float | None = None,
        step: int | str | None = None,
        topics: str | None = None,
        **settings: Any,
    ) -> None:
        own = None if detector is None or isinstance(detector, str) else _checked_detector(detector)
        url = None if store is None else parse_url(store)
        given = {
            "store": url,
            "detector": detector if own is None else _name_for(own),
            "budget": None if budget is None else str(budget),
            "step": step,
            "topics": topics,
            **settings,
        }
        chosen, self._store = open_run(gather(given, environment=os.environ), url, own)
        self._held = ExitStack()
        """What is given back at the end: the store, and before it the engine."""
        try:
            if self._store is not None:
                self._held.callback(self._store.close)
            engine = self._held.enter_context(opened_engine(chosen, warnings.warn))
            self._runner = Runner(chosen, self._store, detector=own, engine=engine)
        except BaseException:
            self._held.close()
            raise
        if missing := missing_meaning(chosen, own):
            warnings.warn(missing, stacklevel=2)
        self._counts: Counter[str] = Counter()
        self._topics: tuple[Topic, ...] = ()
        self._alerts: deque[Alert] = deque(maxlen=MAX_ALERTS)
        self._alert_counts: Counter[str] = Counter()
        self._storylines: OrderedDict[str, Storyline] = OrderedDict()
        self._last_time: datetime | None = None
        self._text_counts: OrderedDict[str, int] = OrderedDict()
        self._line = 0

    def watch(self, documents: Any) -> Iterator[Verdict]:
        """A verdict for each document, in order, as soon as its step is complete; the last step at the end.

        One that cannot be read is quarantined and counted (`status()`), and the stream goes on; a warning says so where
        it was all of them. One whose id came before is dropped and counted.

        Parameters
        ----------
        documents : iterable, data frame or path
            `fs.Document`, mappings with at least `text`, or plain texts; a pandas or polars frame or an Arrow table
            with a column `text`; or the name of a file as `firststory run` reads it ("news.jsonl", "logs/*.csv.gz"),
            which a store resumes where the last run stopped. None, NaN, NaT and NA are values that are not there.
            `columns={"text": "body"}` of the monitor says what fields are called otherwise.

        Examples
        --------
        >>> import firststory as fs
        >>> rows = [{"body": "Flood closes Bremen bridge", "nr": 1}, {"body": "Mayor of Oslo resigns", "nr": 2}]
        >>> monitor = fs.Monitor(detector="neighbour", topics="none", columns={"text": "body", "id": "nr"})
        >>> [verdict.document.id for verdict in monitor.watch(rows)]
        ['1', '2']
        """
        read, bad, first_problem = 0, Counter[str](), ""
        arrivals = self._arrivals(documents)
        is_overlapped = self._runner.settings.cores == 2
        for step in self._runner.run_overlapped(arrivals) if is_overlapped else self._runner.run(arrivals):
            self._keep(step)
            read += len(step.verdicts) + step.counts.get("redelivered", 0)
            bad.update(quarantined.reason for quarantined in step.quarantined)
            first_problem = first_problem or next((one.message for one in step.quarantined), "")
            yield from step.verdicts
        if bad and not read:
            reasons = ", ".join(f"{reason} {number:,}" for reason, number in sorted(bad.items()))
            said = f"None of the documents could be read ({reasons}). The first: {first_problem}"
            hint = 'A document is a text, or a mapping with at least text; --map is Monitor(columns={"text": "body"}).'
            warnings.warn(f"{said} {hint}", stacklevel=2)

    def _keep(self, step: Step) -> None:
        """What is asked for later, where there is no store."""
        self._counts.update(step.counts)
        self._topics = step.topics or self._topics
        self._alerts.extend(step.alerts)
        self._alert_counts.update(alert.kind for alert in step.alerts)
        for storyline in step.storylines:
            self._storylines.pop(storyline.id, None)
            if storyline.status != "merged":
                self._storylines[storyline.id] = storyline
        while len(self._storylines) > MAX_ALERTS:
            self._storylines.popitem(last=False)
        times = step.span or [verdict.document.time for verdict in step.verdicts]
        self._last_time = max((time for time in (*times, self._last_time) if time is not None), default=None)

    def alerts(self, since: Since = None, kind: str | Collection[str] | None = None) -> tuple[Alert, ...]:
        """What a person should know, latest first: with a store all of it, without the latest 1,000.

        Parameters
        ----------
        since : datetime, timedelta or str, optional
            A moment ("2026-11-15T22:00:00Z"), or how long before the latest document: "24h", "7d", "yesterday",
            `timedelta(hours=24)`. In a stream without times nothing is left out.
        kind : {"confirmed", "turn", "first_seen"} or several, optional
            New events that several sources tell; something new inside a running story; first reports that nothing
            confirms yet. Without it all three.

        Examples
        --------
        >>> import firststory as fs
        >>> with fs.Monitor(budget="20/day", detector="neighbour", topics="none") as monitor:
        ...     for verdict in monitor.watch(["Flood closes Bremen bridge", "Mayor of Oslo resigns"]):
        ...         pass
        ...     for alert in monitor.alerts(since="24h", kind="confirmed"):
        ...         print(alert.headline.title, alert.sources, alert.delay)
        """
        kinds = checked_kinds(kind)
        if self._store is not None:
            moment = parse_since(since, self._store.last_time())
            return self._store.alerts(since=moment, kind=kinds, newest_first=True)
        moment = parse_since(since, self._last_time)
        return tuple(
            alert
            for alert in reversed(self._alerts)
            if alert.kind in kinds and (moment is None or alert.fired_at is None or alert.fired_at >= moment)
        )

    def stories(self, limit: int | None = None, *, merged: bool = False) -> tuple[Story, ...]:
        """The stories: with a store all of them, latest first; without, those still remembered.

        With `merged` also those that were merged into others (`merged_into`), where there is a store.
        """
        if self._store is not None:
            return self._store.stories(limit=limit, merged=merged)
        return tuple(self._runner.core.parts.stories.stories())[:limit]

    def storylines(self, limit: int | None = None, *, merged: bool = False) -> tuple[Storyline, ...]:
        """What the stories add up to: with a store all storylines, latest first; without, the latest 1,000.

        Examples
        --------
        >>> import firststory as fs
        >>> monitor = fs.Monitor(detector="neighbour", topics="none")
        >>> verdicts = list(monitor.watch(["Flood closes Bremen bridge", "Mayor of Oslo resigns"]))
        >>> for storyline in monitor.storylines():
        ...     print(storyline.title, storyline.n_stories, storyline.sources)
        """
        if self._store is not None:
            return self._store.storylines(limit=limit, merged=merged)
        return tuple(reversed(self._storylines.values()))[:limit]

    def topics(self) -> tuple[Topic, ...]:
        """The topics as they were learnt last, largest first."""
        found = self._store.topics() if self._store is not None else self._topics
        return tuple(sorted(found, key=lambda topic: -topic.share))

    def verdicts(self, *, novel: bool | None = None, limit: int | None = None) -> tuple[Verdict, ...]:
        """Verdicts of the store, latest first."""
        return self._need_store("verdicts").verdicts(novel=novel, newest_first=True, limit=limit)

    def verdicts_frame(
        self,
        verdicts: Iterable[Verdict] | None = None,
        *,
        novel: bool | None = None,
        limit: int | None = None,
        library: str = "pandas",
    ) -> Any:
        """Verdicts as a data frame, one row each: those given, else those of the store, latest first.

        Parameters
        ----------
        verdicts : iterable of Verdict, optional
            What `watch` gave.
        novel, limit : optional
            Which of the store's, as for `verdicts`.
        library : {"pandas", "polars"}, default="pandas"
            Whose frame it is.

        Examples
        --------
        >>> import firststory as fs
        >>> monitor = fs.Monitor(detector="neighbour", topics="none")
        >>> frame = monitor.verdicts_frame(monitor.watch(["Flood closes Bremen bridge", "Mayor of Oslo resigns"]))
        >>> list(frame["story"])
        ['s1', 's2']
        """
        return frame_of(self.verdicts(novel=novel, limit=limit) if verdicts is None else verdicts, library)

    def search(self, words: str, limit: int = 20) -> tuple[Verdict, ...]:
        """Verdicts of the store on documents that have all the words, best first."""
        return self._need_store("search").search(words, limit)

    def feedback(self, document: str, useful: bool | None) -> None:
        """Say that a verdict of the store was useful, or was not; None takes it back. The next step applies it."""
        self._need_store("feedback").add_feedback(document, useful)

    def status(self) -> dict[str, Any]:
        """Counts; where the alerts stand (`alerts`); and the threshold on single documents and why (`novelty`).

        `alerts` has the ceiling and what was spent of it, the false alerts to expect, what was held back and why, what
        is missing while it warms up, and how sources are counted.

        Examples
        --------
        >>> import firststory as fs
        >>> monitor = fs.Monitor(budget="20/day", detector="neighbour", topics="none")
        >>> told = monitor.status()
        >>> told["documents"], told["alert_counts"], told["novelty"]["budget"]
        (0, {'confirmed': 0, 'turn': 0, 'first_seen': 0}, '20/day')
        """
        told = self._runner.core.status()
        if self._store is not None:
            return {**self._store.status(), **told}
        counts = dict(self._counts)
        return {
            "documents": counts.get("seen", 0),
            "novel": counts.get("novel", 0),
            "counts": counts,
            "alert_counts": {kind: self._alert_counts[kind] for kind in KINDS},
            **told,
        }

    def close(self) -> None:
        """Save the model and give the store and the engine back: nothing is written after this."""
        with self._held:
            self._runner.save()

    def __repr__(self) -> str:
        settings = self._runner.settings
        place = "no store" if self._store is None else f"store={_shown(self._store.url)!r}"
        taken = self._runner.next_step
        steps = "1 step" if taken == 1 else f"{taken:,} steps"
        return f"<Monitor {place}, detector={settings.detector!r}, budget={settings.budget!r}, {steps} so far>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def _arrivals(self, documents: Any) -> Iterator[Arrival]:
        if isinstance(documents, (bytes, Mapping, Document)) or not (
            isinstance(documents, (str, os.PathLike, Iterable)) or rows_of(documents)
        ):
            raise ParameterError(
                owner="Monitor.watch",
                parameter="documents",
                allowed="an iterable of documents, a data frame or the name of a file",
                received=f"one {type(documents).__name__}",
                remedy="Pass a list: monitor.watch([document])",
            )
        if isinstance(documents, (str, os.PathLike)):
            return self._file_arrivals(os.fspath(documents))
        return self._row_arrivals(rows_of(documents) or map(row_of, documents))

    def _file_arrivals(self, name: str) -> Iterator[Arrival]:
        """A file, from where the last run with this store stopped."""
        settings = self._runner.settings
        try:
            names = expand([name])
        except SourceError as error:
            if len(name) < 200 and "\n" not in name and not any(letter.isspace() for letter in name):
                raise
            raise ParameterError(
                owner="Monitor.watch",
                parameter="documents",
                allowed="an iterable of documents, a data frame or the name of a file",
                received=name,
                remedy="One text is watched in a list: monitor.watch([text])",
                message="There is no file of this name.",
            ) from error
        yield from read_all(
            names,
            {} if self._store is None else self._store.positions(),
            lambda said: warnings.warn(said, stacklevel=2),
            format=settings.format,
            max_document_bytes=settings.max_document_bytes,
            columns=settings.columns,
        )

    def _row_arrivals(self, documents: Iterable[Any]) -> Iterator[Arrival]:
        for given in documents:
            self._line += 1
            position = Position(SOURCE, {"line": self._line})
            try:
                yield self._document(given), position
            except DocumentError as error:
                yield Quarantined(error.reason, str(error), position, repr(given)[:200])

    def _document(self, given: Any) -> Document:
        if not isinstance(given, str):
            return document_of(given, self._runner.settings.columns)
        # The same text twice is two documents, and the same two when the list is watched again.
        name = content_id({"text": given})
        count = self._text_counts[name] = self._text_counts.pop(name, 0) + 1
        if len(self._text_counts) > MAX_TEXT_IDS:
            self._text_counts.popitem(last=False)
        return document_from({"id": name if count == 1 else f"{name}-{count}", "text": given})

    def _need_store(self, what: str) -> Store:
        if self._store is None:
            raise ParameterError(
                owner=f"Monitor.{what}",
                parameter="store",
                allowed="given",
                received=None,
                remedy='Watch with a store: fs.Monitor(store="news.db")',
                message="This monitor has no store.",
            )
        return self._store


def _shown(url: str) -> str:
    """A store for people: the whole path of a file; of other databases no password."""
    parsed = make_url(url)
    if parsed.get_backend_name() == "sqlite":
        return str(Path(parsed.database or "").resolve())
    return parsed.render_as_string(hide_password=True)


def _checked_detector(detector: Any) -> Detector:
    if isinstance(detector, type) or not isinstance(detector, Detector):
        raise ParameterError(
            owner="Monitor",
            parameter="detector",
            allowed="a name, or a detector with score_then_learn, get_params, get_state and from_state",
            received=detector,
            remedy='Use detector="fused", or one such as fs.FusedNovelty().',
        )
    return detector


def _name_for(detector: Detector) -> str:
    """The recipe whose rows a detector of one's own gets: that of its class, else the plain neighbour's TF-IDF."""
    from firststory.pipeline.build import RECIPES

    kinds = {recipe.name: name for name, recipe in reversed(RECIPES.items())}
    return next((kinds[base.__name__] for base in type(detector).__mro__ if base.__name__ in kinds), "neighbour")
