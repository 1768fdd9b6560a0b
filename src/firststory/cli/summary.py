"""What a run did, in a small table, and what to type next."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from firststory.text.encoder import SentenceEncoder

ALERT_LABELS = {
    "confirmed": "confirmed events",
    "turn": "turns of running stories",
    "first_seen": "first reports, quiet",
}
COUNT_LABELS = {
    # count: its label; counts of 0 are left out, except the first two
    "scored": "documents judged",
    "novel": "of them novel, each by itself",
    "duplicates": "duplicate texts, attached to the first",
    "redelivered": "redelivered ids, dropped",
    "empty": "documents without words, given a neutral score",
    "late": "late documents",
    "ahead": "times far ahead of the stream, not believed",
    "untimed": "documents without a time",
    "assumed_utc": "times without a zone, taken as UTC",
    "unread": "words left out because the vocabulary is full (max_terms)",
    "quarantined": "lines quarantined",
}
ENOUGH = 100
"""Documents from which on their rate says something."""


def _singular(words: str) -> str:
    """The label of a count of one.

    Examples
    --------
    >>> _singular("duplicate texts, attached to the first"), _singular("of them novel, each by itself")
    ('duplicate text, attached to the first', 'of them novel, each by itself')
    """
    first = ("event", "turn", "report", "document", "text", "id", "time", "word", "line")
    for noun in first:
        plural = f"{noun}s"
        if plural in words.split(",")[0].split():
            return words.replace(plural, noun, 1)
    return words


def encoder_speed(encoder: SentenceEncoder) -> str:
    """What the encoder did, and how fast."""
    texts = "text" if encoder.n_texts == 1 else "texts"
    return (
        f"Vectors: {encoder.n_texts:,} {texts} by {encoder.folder}, {encoder.dimensions:,} numbers each, "
        f"{encoder.texts_per_second:,.0f} texts/s"
    )


def print_summary(
    screen: Console,
    before: dict[str, Any],
    after: dict[str, Any],
    rate: float,
    store: str,
    confidence: str | None = None,
    encoder: SentenceEncoder | None = None,
) -> None:
    """The difference that this run made, and how sure its alerts are, where they are not."""
    from rich.table import Table

    counts = Counter(after["counts"])
    counts.subtract(before["counts"])
    table = Table(box=None, show_header=False, padding=(0, 1))
    table.add_column(justify="right", style="bold")
    table.add_column()
    fired = Counter(after["alert_counts"])
    fired.subtract(before["alert_counts"])
    for kind, words in ALERT_LABELS.items():
        if fired[kind] or kind == "confirmed":
            table.add_row(f"{fired[kind]:,}", _singular(words) if fired[kind] == 1 else words)
    for name, words in COUNT_LABELS.items():
        if counts[name] or name in ("scored", "novel"):
            table.add_row(f"{counts[name]:,}", _singular(words) if counts[name] == 1 else words)
    screen.print()
    screen.print(table)
    if not counts["seen"]:
        screen.print("0 documents: the sources have nothing new.")
    if counts["quarantined"]:
        reasons = Counter(after["quarantine_reasons"])
        reasons.subtract(before["quarantine_reasons"])
        by_reason = ", ".join(f"{reason} {number}" for reason, number in sorted(reasons.items()) if number)
        screen.print(
            f"Quarantined: {by_reason}. See them: firststory status --quarantine --store {store}", markup=False
        )
    if confidence and counts["scored"]:
        screen.print(confidence, markup=False)
    if encoder is not None:
        screen.print(encoder_speed(encoder), markup=False, soft_wrap=True)
    if counts["scored"]:
        # A command that is broken over lines cannot be copied.
        screen.print(f"{rate:,.0f} documents/s. Next:" if counts["scored"] >= ENOUGH else "Next:", markup=False)
        for command in ("alerts", "digest", "stories"):
            screen.print(f"  firststory {command} --store {store}", markup=False, soft_wrap=True)
