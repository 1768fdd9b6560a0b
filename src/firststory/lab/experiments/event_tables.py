"""Rows of the tables on alerts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from firststory.evaluate.alerts import AlertScores, found_events
from firststory.evaluate.known_events import KnownEvents
from firststory.lab.experiments.event_streams import StreamRun
from firststory.records import Alert, AlertKind

COLUMNS = (
    "stream", "method", "alerts", "a day", "events found", "with a second source", "first", "in 1, 6, 24 h", "delay, h",
    "again", "true first", "precise",
)  # fmt: skip
HEAD = (f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|")
QUIET_HEAD = (
    "| stream | alerts | number | a day | least, median, most on a day | days without | warm-up |",
    "|---|---|---|---|---|---|---|",
)
WARM_UP = 0.09


def row(stream: str, method: str, scores: AlertScores) -> str:
    """One method on one stream."""
    cells = [
        stream,
        method,
        f"{scores.n_alerts:,}",
        f"{scores.per_day:.1f}",
        f"{scores.n_found}/{scores.n_events}",
        f"{scores.n_followed_found}/{scores.n_followed}",
        f"{scores.n_exact}",
        ", ".join(str(n) for n in scores.n_within),
        f"{_number(scores.delay_hours)} / {_number(scores.delay_hours_90)}",
        f"{scores.n_duplicates}",
        _share(scores.true_first, scores.n_true_first_judged),
        _share(scores.precision, scores.n_judged),
    ]
    return "| " + " | ".join(cells) + " |"


def missed(alerts: Sequence[Alert], known: KnownEvents, share: float) -> str:
    """The names of the events that no alert found; those that nothing could confirm in brackets."""
    found = found_events(alerts, known, share=share, anywhere=True)
    names = [
        str(event.name) if event.is_followed else f"({event.name})" for event in known.events if event.name not in found
    ]
    return ", ".join(names) or "none"


def quiet_rows(run: StreamRun, name: str) -> list[str]:
    """How the alerts of each kind are spread over the days of a stream."""
    days = sorted({document.time.date() for document in run.stream.documents if document.time is not None})
    place = {document.id: i for i, document in enumerate(run.stream.documents)}
    early = WARM_UP * len(place)
    kinds: tuple[AlertKind, ...] = ("confirmed", "turn", "first_seen")
    rows = []
    for kind in kinds:
        alerts = run.of_kind(kind)
        on_day = Counter(alert.fired_at.date() for alert in alerts if alert.fired_at is not None)
        counts = np.array([on_day[day] for day in days])
        warm = np.mean([max(place[one] for one in alert.documents) < early for alert in alerts]) if alerts else np.nan
        spread = f"{counts.min()}, {np.median(counts):g}, {counts.max()}"
        rows.append(
            f"| {name} | {kind.replace('_', ' ')} | {len(alerts):,} | {len(alerts) / len(days):.1f} | {spread} "
            f"| {int((counts == 0).sum())} of {len(days)} | {_percent(float(warm))} |"
        )
    return rows


def _share(value: float, of: int) -> str:
    return f"{_percent(value)} of {of:,}" if of else "–"


def _percent(value: float) -> str:
    return "–" if np.isnan(value) else f"{100 * value:.0f} %"


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.1f}"
