"""The digest of a day or a week in the reader's zone: on paper, and as a mail."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from email.message import EmailMessage
from typing import Any

from firststory.digest.gather import digest_of
from firststory.digest.markdown import markdown_page
from firststory.digest.pages import html_page
from firststory.digest.records import Digest
from firststory.digest.words import counted
from firststory.serve.page.cards import key_phrases, why_new
from firststory.serve.page.clock import Clock
from firststory.serve.page.numbers import in_words, listed, sentence
from firststory.store.store import Store
from firststory.units import MICROSECOND

SPANS = {"day": "One day", "week": "One week"}


@dataclass(frozen=True, slots=True)
class Period:
    """A day or a week, from midnight to midnight."""

    first: date
    span: str
    since: datetime
    until: datetime
    last: date
    """The last day that the stream has."""

    @property
    def days(self) -> int:
        return 7 if self.span == "week" else 1

    @property
    def end(self) -> date:
        return self.first + timedelta(days=self.days - 1)


def period_of(store: Store, asked: Mapping[str, str], clock: Clock) -> Period:
    """What the address says; else yesterday where anything came then, or the last day of a stream of the past."""
    span = asked.get("span", "day")
    span = span if span in SPANS else "day"
    today = clock.local(clock.now).date()
    try:
        first = date.fromisoformat(asked.get("day", ""))
    except ValueError:
        midnight = datetime.combine(today, time(), clock.zone)
        came = clock.is_live and store.came(midnight - timedelta(days=1), midnight - MICROSECOND).documents
        first = today - timedelta(days=1) if came else today
    if span == "week":
        first -= timedelta(days=first.weekday())
    since = datetime.combine(first, time(), clock.zone)
    until = datetime.combine(first + timedelta(days=7 if span == "week" else 1), time(), clock.zone) - MICROSECOND
    return Period(first, span, since, until, today)


def digest_facts(store: Store, clock: Clock, period: Period) -> dict[str, Any]:
    """The digest with its words."""
    digest = digest_of(store, period.since, until=min(period.until, clock.now))
    return {
        "digest": digest,
        "period": period,
        "heading": heading(period),
        "summary": summary(digest),
        "spans": SPANS,
        "before": period.first - timedelta(days=period.days),
        "after": period.first + timedelta(days=period.days),
        "why": lambda alert: why_new(alert, key_phrases(alert), says_when=True),
        "paper": Clock(min(period.until, clock.now), clock.zone, clock.is_live),
    }


def heading(period: Period) -> str:
    """
    >>> noon = datetime(2018, 10, 25, 12)
    >>> heading(Period(date(2018, 10, 25), "day", noon, noon, date(2018, 10, 26)))
    'Thursday 25 October 2018'
    """
    if period.span == "day":
        return f"{period.first:%A} {period.first.day} {period.first:%B %Y}"
    return f"{period.first.day} {period.first:%B} to {period.end.day} {period.end:%B %Y}"


def summary(digest: Digest) -> str:
    """What happened, in a sentence."""
    told = []
    if digest.n_confirmed:
        told.append(f"{in_words(digest.n_confirmed)} new {'event' if digest.n_confirmed == 1 else 'events'} confirmed")
    if digest.n_turns:
        told.append(f"{in_words(digest.n_turns)} {'turn' if digest.n_turns == 1 else 'turns'}")
    came = counted(digest.documents, "document") + (
        f" of {counted(digest.sources, 'source')}" if digest.sources else ""
    )
    if not told:
        return f"Nothing was confirmed. {sentence(came)} {'was' if digest.documents == 1 else 'were'} read."
    return sentence(f"{listed(told)}, from {came}.")


def mail_of(digest: Digest, period: Period) -> bytes:
    """The digest as a mail that is not sent yet: mail programs open it, to be addressed and sent."""
    message = EmailMessage()
    message["Subject"] = f"What happened: {heading(period)}"
    message["X-Unsent"] = "1"
    message.set_content(markdown_page(digest))
    message.add_alternative(html_page(digest), subtype="html")
    return message.as_bytes()
