"""Times as a reader sees them: in the reader's zone, as clock time first, and never without the day when it matters."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from firststory.digest.words import is_midnight, iso

LIVE = timedelta(hours=24)
"""A stream whose last document is older is one of the past: its end is "now"."""
WEEK = timedelta(days=7)
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Clock:
    """Now, and the zone of the reader."""

    now: datetime
    zone: ZoneInfo
    is_live: bool
    """Whether now is the time of day, and not the end of a stream of the past."""
    knows_hours: bool = True
    """Whether the stream has times of day; one that has not is the same in every zone, and is shown in UTC."""

    def local(self, time: datetime) -> datetime:
        """A time in the reader's zone. A day of a stream that knows only days is the same day everywhere."""
        return time if is_midnight(time) else time.astimezone(self.zone)

    def midnight(self, time: datetime) -> datetime:
        """The beginning of the reader's day that a time is in."""
        return self.local(time).replace(hour=0, minute=0, second=0, microsecond=0)

    def when(self, time: datetime | None) -> str:
        """Clock time today, with the weekday within a week, with the date before; the year where it is another."""
        if time is None:
            return ""
        local, today = self.local(time), self.now.astimezone(self.zone)
        clock = "" if is_midnight(time) else f"{local:%H:%M}"
        if local.date() == today.date():
            return clock or ("today" if self.is_live else self.date(time))
        if abs(today.replace(tzinfo=None) - local.replace(tzinfo=None)) < WEEK - DAY:
            return f"{local:%a} {clock}".strip()
        return f"{self.date(time)} {clock}".strip()

    def hour(self, time: datetime | None) -> str:
        """The clock time alone, for where the day stands above; nothing in a stream that knows only days."""
        return "" if time is None or is_midnight(time) else f"{self.local(time):%H:%M}"

    def date(self, time: datetime) -> str:
        """The date, with the year where it is not this one."""
        local = self.local(time)
        year = "" if local.year == self.now.astimezone(self.zone).year else f" {local.year}"
        return f"{local.day} {local:%b}{year}"

    def full_date(self, time: datetime) -> str:
        """The date with its year, for where no heading has it."""
        local = self.local(time)
        return f"{local.day} {local:%b %Y}"

    def said(self, time: datetime) -> str:
        """A time within a sentence: at 14:44, on Tuesday at 06:04, on 15 Mar."""
        local, now = self.local(time), self.local(self.now)
        hour = f"at {local:%H:%M}" if self.hour(time) else ""
        if hour and local.date() == now.date() and self.is_live:
            return hour
        is_near = abs(now.replace(tzinfo=None) - local.replace(tzinfo=None)) < WEEK - DAY
        return f"on {f'{local:%A}' if is_near else self.date(time)} {hour}".strip()

    def day(self, time: datetime) -> str:
        """A day as a heading; with the year where that is not the calendar's."""
        local = self.local(time)
        year = "" if local.year == datetime.now(UTC).year else f" {local.year}"
        return f"{local:%A} {local.day} {local:%B}{year}"

    def age(self, time: datetime | None) -> str:
        """How long ago, while it is less than a day; nothing in a stream of the past, where all is long ago."""
        if time is None or not self.is_live or is_midnight(time) or self.now - time >= DAY:
            return ""
        return ago(self.now - time)

    def utc(self, time: datetime) -> str:
        """The same in UTC, for whoever asks."""
        time = time.astimezone(UTC)
        clock = "" if is_midnight(time) else f", {time:%H:%M} UTC"
        return f"{time:%a} {time.day} {time:%b %Y}{clock}"

    @property
    def zone_name(self) -> str:
        """How the zone is called."""
        if self.zone.key == "UTC":
            return "UTC"
        place = self.zone.key.rpartition("/")[2].replace("_", " ")
        short = self.now.astimezone(self.zone).tzname() or ""
        return f"{place}, {short}" if short.isalpha() else place

    iso = staticmethod(iso)


def ago(length: timedelta) -> str:
    """
    >>> [ago(timedelta(seconds=n)) for n in (20, 420, 6000, 90_000)]
    ['just now', '7 min ago', '2 h ago', '1 d ago']
    """
    minutes = length.total_seconds() / 60
    if minutes < 1:
        return "just now"
    if minutes < 60:
        return f"{int(minutes)} min ago"
    if minutes < 24 * 60:
        return f"{round(minutes / 60)} h ago"
    return f"{int(minutes / 60 / 24)} d ago"


def span(length: timedelta) -> str:
    """Minutes below an hour, one decimal below ten hours, whole hours below two days, then days.

    Examples
    --------
    >>> [span(timedelta(minutes=n)) for n in (0, 52, 390, 840, 4320)]
    ['1 min', '52 min', '6.5 h', '14 h', '3 days']
    """
    minutes = length.total_seconds() / 60
    if minutes < 60:
        return f"{max(1, round(minutes))} min"
    if minutes < 600:
        return f"{minutes / 60:.1f} h".replace(".0 h", " h")
    if minutes < 48 * 60:
        return f"{round(minutes / 60)} h"
    return f"{round(minutes / 60 / 24)} days"


def clock_of(last: datetime | None, zone: str | None, wall: datetime | None = None) -> Clock:
    """The clock of a reader over a stream that has come so far; the zone is a name, UTC where it is unknown."""
    wall = wall or datetime.now(UTC)
    is_live = last is None or abs(wall - last) < LIVE
    now = wall if last is None else max(wall, last) if is_live else last
    knows_hours = last is None or not is_midnight(last)
    try:
        found = ZoneInfo((zone if knows_hours else None) or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        found = ZoneInfo("UTC")
    return Clock(now, found, is_live, knows_hours)
