"""Made-up short documents without end, written as JSON lines: `python -m firststory.lab.benchmarks.load_stream 1000`.

A day of an exceptionally busy stream: two thousand stories run at any time, each for some hours, and one document in
seven belongs to none. Names are never used up, so that vocabulary, window and stories have something to forget.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

RUNNING = 2_000
"""Stories that run at any time."""
NEW_STORY = 0.002
"""Of the documents: how many begin a story that takes the place of another."""
BACKGROUND = 0.15
SOURCES = 200
START = datetime(2026, 1, 1, tzinfo=UTC)
A_DAY = 5_000_000
"""Documents of a day."""
_SYLLABLES_TEXT = "ka lo mar vin tor es bel dun rio ha sel ni gar po tal wen ur mi zen fal cor ash le bri don"
_SYLLABLES = _SYLLABLES_TEXT.split()
_KINDS = [
    words.split()
    for words in (
        "river water rescue homes rain bridge evacuated boats level street damage shelter flood",
        "smoke firefighters blaze factory workers alarm building cause burned crews fire",
        "votes campaign council election ballot majority rival speech turnout party mayor",
        "union workers wages talks dock cargo ships pay employers picket contract delay strike",
        "match final set title crowd victory champion coach season record serve score wins",
        "magnitude tremor collapsed aftershock rubble survivors houses epicentre earthquake aid",
        "court judge prosecutor trial bank accounts lawyer evidence jury plea guilty fraud",
        "shares company deal board investors market takeover price bid profit merger",
        "hospital patients vaccine doctors infection cases ministry symptoms ward outbreak",
        "passengers carriage track rail injured crash driver signal speed inquiry train derails",
    )
]
_EVERYDAY_TEXT = (
    "people city officials year time week government area day report local police group public state number early "
    "late called told expected according statement spokesman residents minister country national several hundreds "
    "morning evening weekend plan meeting service road school office family community news"
)
_EVERYDAY = _EVERYDAY_TEXT.split()


def documents(n: int, seed: int = 0) -> Iterator[str]:
    """`n` documents, each a line of JSON; the same ones for the same seed."""
    rng = random.Random(seed)
    cast = [_cast(rng) for _ in range(RUNNING)]
    apart = timedelta(days=1) / A_DAY
    for i in range(n):
        if rng.random() < NEW_STORY:
            cast[rng.randrange(RUNNING)] = _cast(rng)
        own, kind = _cast(rng) if rng.random() < BACKGROUND else cast[rng.randrange(RUNNING)]
        words = [*rng.choices(own, k=3), *rng.choices(kind, k=4), *rng.choices(_EVERYDAY, k=4)]
        rng.shuffle(words)
        moment = (START + i * apart).isoformat()
        source = rng.randrange(SOURCES)
        yield f'{{"id":"d{i}","time":"{moment}","source":"s{source}","text":"{" ".join(words)}"}}\n'


def _cast(rng: random.Random) -> tuple[list[str], list[str]]:
    """The names of a story, and the words of its kind."""
    return ["".join(rng.choices(_SYLLABLES, k=5)).capitalize() for _ in range(6)], rng.choice(_KINDS)


def main() -> None:
    """Write documents: how many, at most how many a second, and how many of them are written already."""
    n, rate, written = (*map(float, sys.argv[1:]), 0.0, 0.0)[:3]
    begin = time.monotonic()
    for i, line in enumerate(documents(int(n))):
        if i < written:
            begin = time.monotonic()
            continue
        if rate and not i % 1000:
            time.sleep(max(begin + (i - written) / rate - time.monotonic(), 0.0))
        sys.stdout.write(line)


if __name__ == "__main__":
    main()
