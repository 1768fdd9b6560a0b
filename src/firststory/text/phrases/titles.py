"""The title, among the documents of a burst, that names the event."""

from __future__ import annotations

from collections.abc import Sequence

from firststory.text.phrases.profiles import DAY_SECONDS, FORMAT, Profile
from firststory.text.phrases.reader import PhraseReader
from firststory.text.phrases.records import Report

A_FORMAT, A_QUOTE, NO_NAME = 0.55, 0.85, 0.8
LATE = 0.15
"""What a title loses by the end of the first day."""


def best_title(reader: PhraseReader, reports: Sequence[Report], profile: Profile | None = None) -> str:
    """The title that says most of what the burst's first day says, in the form of a report; empty without reports.

    Formats (live, watch, what we know, questions), quotes and titles without a name count less, later ones a little.

    Examples
    --------
    >>> reports = [Report("Why bridges fall", "", 60.0), Report("Bridge in Genoa collapses", "", 0.0)]
    >>> best_title(PhraseReader(), [*reports, Report("Bridge in Genoa collapses, dozens feared dead", "", 90.0)])
    'Bridge in Genoa collapses'
    """
    profile = profile or Profile(reader, reports)
    best, best_worth = "", -1.0
    for report, phrases in zip(profile.reports, profile.phrases, strict=True):
        title = [phrase for phrase in phrases if phrase.zone == "title"]
        words = profile.words(report.title)
        form = A_FORMAT if FORMAT.search(report.title) else 1.0
        form *= A_QUOTE if report.title[:1] in "\"'“‘" or ":" in report.title or "|" in report.title else 1.0
        form *= 1.0 if any(phrase.form == "name" for phrase in title) else NO_NAME
        form *= 1.0 - LATE * (report.time - profile.reports[0].time) / DAY_SECONDS
        worth = form * profile.worth({phrase.key for phrase in title} | words) / (4.0 + len(words)) ** 0.75
        if report.title and worth > best_worth:
            best, best_worth = report.title, worth
    return best
