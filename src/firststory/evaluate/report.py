"""The comparison as a page that anyone can read: one file, no scripts, nothing loaded from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import math
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment
from markupsafe import Markup
from scipy.special import ndtri

from firststory.evaluate.alerts import AlertScores
from firststory.evaluate.comparison import Comparison, DetectorScore
from firststory.evaluate.figures import Axis, Line, line_figure, round_ticks
from firststory.harmless import harmless

DET_TICKS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.95)


def render_report(comparison: Comparison) -> str:
    """The whole page as text.

    Examples
    --------
    >>> from firststory.datasets.streams import TextStream
    >>> from firststory.evaluate import Evaluation, compare
    >>> from firststory.records import Document
    >>> stream = TextStream("tiny", tuple(Document(str(i), "", label=label) for i, label in enumerate("aabab")))
    >>> novelty = np.array([0.9, 0.1, 0.8, 0.1, 0.2])
    >>> evil = Evaluation.from_scores("<script>", stream, novelty, novelty > 0.5, story=list("xxyxy"))
    >>> page = render_report(compare("tiny", [evil], budget=0.5))
    >>> "<script" in page, "Content-Security-Policy" in page
    (False, True)
    """
    folder = files("firststory.evaluate") / "templates"
    style = (folder / "report.css").read_text(encoding="utf-8")
    # The page may use this one style sheet and nothing else, even if something slipped through the escaping.
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    environment = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters.update(count="{:,}".format, harmless=harmless, number=_number, percent=_percent)
    template = environment.from_string((folder / "report.html").read_text(encoding="utf-8"))
    return template.render(
        comparison=comparison,
        best=comparison.best,
        confirmed=comparison.best.alerts["confirmed"],
        scores=sorted(comparison.scores, key=lambda one: one.cost.topic_weighted),
        words=_words(comparison),
        style=Markup(style),
        digest=digest,
        det=Markup(_det(comparison)),
        weeks=Markup(_weeks(comparison)),
    )


def write_report(comparison: Comparison, path: str | Path) -> Path:
    """Write the page and return its path."""
    target = Path(path)
    target.write_text(render_report(comparison), encoding="utf-8")
    return target


def _words(comparison: Comparison) -> list[str]:
    """The main findings, in sentences made from the figures."""
    best = comparison.best
    name = harmless(best.name, 40)
    delay, budget = best.delay, best.budget
    said = [
        f"{name} is the best of the {len(comparison.scores)} compared: its cost is {best.cost.topic_weighted:.2f}, "
        f"where 1.00 is what never alerting costs and 0 is perfect."
        if len(comparison.scores) > 1
        else f"{name} has a cost of {best.cost.topic_weighted:.2f}, where 1.00 is what never alerting costs."
    ]
    said.append(
        f"By novelty alone it caught {_percent(delay.at_once)} of the {delay.n_stories:,} stories at their very first "
        f"document, and {_percent(delay.ever)} at some time{_after(best)}."
    )
    line = f"It called {best.n_novel:,} documents novel, {budget.per_day:.1f} {budget.unit}"
    if budget.allowed is not None:
        line += f" (the budget of {comparison.budget} allows {budget.allowed:.1f})"
    line += f"; {_percent(best.precision)} of them were the first document of a story."
    said.append(line)
    if budget.full_weeks:
        said.append(
            f"In {_percent(budget.kept_weeks)} of the {budget.full_weeks} full weeks their number was within a "
            "fifth of the budget."
        )
    said += [_alerts_in_words(name, scores) for name, scores in best.alerts.items() if scores.n_alerts]
    said.append(
        f"It sorted the documents into stories with a B-cubed F1 of {best.stories.f1:.2f} "
        "(1 is a perfect match with the labels)."
    )
    return said


def _alerts_in_words(name: str, scores: AlertScores) -> str:
    line = (
        f"Alerts ({name}): {scores.n_alerts:,}, {scores.per_day:.1f} {scores.unit}. They found {scores.n_found:,} of "
        f"the {scores.n_events:,} events, {scores.n_followed_found:,} of the {scores.n_followed:,} that a second "
        "source tells of within two days"
    )
    if not math.isnan(scores.delay_hours):
        line += f", half of them within {scores.delay_hours:.1f} hours of the first report"
    return f"{line}; {scores.n_duplicates:,} came a second time."


def _after(best: DetectorScore) -> str:
    delay = best.delay
    if not delay.ever:
        return ""
    if not delay.median_documents:
        return " (half of these, or more, without any delay)"
    days = "" if math.isnan(delay.median_days) else f" and {delay.median_days:.1f} days"
    return f" (half of these after {delay.median_documents:.0f} documents{days} or less)"


def _det(comparison: Comparison) -> str:
    lines = []
    for one in sorted(comparison.scores, key=lambda score: score.cost.topic_weighted):
        fa, miss = one.det.deviates(1e-3)
        keep = np.unique(np.linspace(0, fa.size - 1, min(fa.size, 400)).astype(int))
        lines.append(Line(harmless(one.name, 40), fa[keep].tolist(), miss[keep].tolist()))
    ticks = [(float(ndtri(p)), f"{100 * p:g} %") for p in DET_TICKS]
    low, high = float(ndtri(0.001)), float(ndtri(0.97))
    about = "Misses against false alarms for each detector; lower and further left is better."
    return line_figure(
        lines, Axis("false alarms: old documents called new", low, high, ticks),
        Axis("misses: new stories not seen", low, high, ticks), about,
    )  # fmt: skip


def _weeks(comparison: Comparison) -> str:
    every = [week for one in comparison.scores for week, _ in one.budget.by_week]
    if not every:
        return ""
    lines = [
        Line(harmless(one.name, 40), [w for w, _ in one.budget.by_week], [float(n) for _, n in one.budget.by_week])
        for one in sorted(comparison.scores, key=lambda score: score.cost.topic_weighted)
    ]
    top = max([n for line in lines for n in line.y] + [1.0])
    first = comparison.scores[0].budget
    rate = comparison.budget.rpartition("/")[2] in ("minute", "hour", "day", "week") and first.allowed is not None
    marker = (7 * (first.allowed or 0.0), f"budget: {comparison.budget}") if rate else None
    top = max(top, 1.1 * marker[0]) if marker else top
    low, high = min(every), max(every)
    days = np.linspace(low, high, 5)
    ticks = [(float(day), f"{datetime.fromtimestamp(float(day) * 86400, tz=UTC):%b %Y}") for day in days]
    about = "Novel documents in each week for each detector, and the budget."
    return line_figure(
        lines, Axis("week", low, max(high, low + 1), ticks),
        Axis("novel documents in the week", 0.0, 1.05 * top, round_ticks(top)), about, marker,
    )  # fmt: skip


def _number(value: Any, digits: int = 2) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:,.{digits}f}"


def _percent(value: float) -> str:
    return "–" if math.isnan(value) else f"{100 * value:.0f}\N{NO-BREAK SPACE}%"
