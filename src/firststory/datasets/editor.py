"""Alerts and events as an editor judged them by reading, on two of the corpora."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from firststory.datasets.home import find


class JudgedDocument(NamedTuple):
    """One document that the editor read, with the earlier ones at hand."""

    stream: str
    """`news17`: all of `load_news2017`; `head`: 20,000 of `load_headlines` from 1 October 2018 on."""
    drawn_from: str
    """How it came to be read: as an alert of some ranking, or as a random document."""
    id: str
    label: str
    """`TRUE_FIRST`, `NOT_EVENT` or `MISSED_DUPLICATE`."""
    wanted: bool | None
    """Whether the editor would want the alert; None for random documents."""
    note: str


class CoveredEvent(NamedTuple):
    """A widely covered event and the first report of it."""

    stream: str
    event: str
    first_id: str


class EditorLabels(NamedTuple):
    """What the editor judged."""

    alerts: tuple[JudgedDocument, ...]
    events: tuple[CoveredEvent, ...]


def load_editor_labels(data_home: str | os.PathLike[str] | None = None) -> EditorLabels:
    """300 judgements of documents and 67 widely covered events, on news of 2017 and on headlines of 2018.

    Ids are those of `load_news2017` and `load_headlines`.

    Examples
    --------
    >>> labels = load_editor_labels()  # doctest: +SKIP
    >>> sum(alert.wanted is True for alert in labels.alerts)  # doctest: +SKIP
    110
    """
    alerts = tuple(
        JudgedDocument(row["stream"], row["set"], row["id"], row["label"], _wanted(row["wanted"]), row["note"])
        for row in _rows(find("editor/alerts.csv", data_home))
    )
    events = tuple(CoveredEvent(**row) for row in _rows(find("editor/events.csv", data_home)))
    return EditorLabels(alerts, events)


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _wanted(answer: str) -> bool | None:
    return {"Y": True, "N": False, "": None}[answer]
