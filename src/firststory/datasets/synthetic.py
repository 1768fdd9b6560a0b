"""A stream of made-up news with planted stories: the answers are known, and no corpus is needed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from firststory.datasets.streams import TextStream
from firststory.errors import ParameterError
from firststory.records import Document

# What happens: a headline, and the words that any report of this kind uses.
_KINDS = (
    ("Flood in {place}", "river water rescue homes rain bridge evacuated boats level street damage shelter"),
    ("Fire at {name} plant in {place}", "smoke firefighters blaze factory workers alarm building cause burned crews"),
    ("{name} elected mayor of {place}", "votes campaign council election ballot majority rival speech turnout party"),
    ("Strike at {place} port", "union workers wages talks dock cargo ships pay employers picket contract delay"),
    ("{name} wins {place} open", "match final set title crowd victory champion coach season record serve score"),
    ("Earthquake shakes {place}", "magnitude tremor collapsed aftershock rubble survivors houses epicentre damage aid"),
    (
        "{name} charged with fraud in {place}",
        "court judge prosecutor trial bank accounts lawyer evidence jury plea guilty",
    ),
    ("{name} merger approved", "shares company deal board investors market takeover price bid profit shareholders"),
    ("Outbreak of fever in {place}", "hospital patients vaccine doctors infection cases ministry symptoms ward spread"),
    ("Train derails near {place}", "passengers carriage track rail injured crash driver signal speed inquiry station"),
)
_EVERYDAY_TEXT = (
    "people city officials year time week government area day report local police group public state number "
    "early late called told expected according statement spokesman residents minister country national "
    "several hundreds morning evening weekend plan meeting service road school office family community office "
    "news"
)
_EVERYDAY = _EVERYDAY_TEXT.split()
_SYLLABLES_TEXT = "ka lo mar vin tor es bel dun rio ha sel ni gar po tal wen ur mi zen fal cor ash le bri don"
_SYLLABLES = _SYLLABLES_TEXT.split()


def make_story_stream(
    n_documents: int = 600,
    n_stories: int = 60,
    *,
    n_days: int = 30,
    background: float = 0.1,
    duplicates: float = 0.02,
    sentences: int = 4,
    random_state: int | None = 0,
) -> TextStream:
    """News with planted stories.

    Each story has a kind (flood, strike, ...), a place, a name and details of its own; the words of its kind are
    shared with other stories, so that two floods are told apart only by where, who and when. Stories begin at random
    times and fade within days.

    Parameters
    ----------
    n_documents, n_stories, n_days : int
        Size of the stream. Every story has at least one document.
    background : float in [0, 1)
        Share of documents on no story at all (label None).
    duplicates : float in [0, 1)
        Share of documents that repeat an earlier text of their story, word for word.
    sentences : int
        Length of a document.
    random_state : int or None
        Same seed, same bytes.

    Returns
    -------
    TextStream
        `labels` are the story ids, `first_story` the planted answers.

    Examples
    --------
    >>> stream = make_story_stream(n_documents=50, n_stories=5, random_state=1)
    >>> len(stream), int(stream.first_story.sum())
    (50, 5)
    """
    if not 1 <= n_stories <= n_documents * (1 - background):
        raise ParameterError(
            owner="make_story_stream",
            parameter="n_stories",
            allowed="from 1 to the number of documents that are not background",
            received=n_stories,
            remedy="Ask for more documents or fewer stories.",
        )
    rng = np.random.default_rng(random_state)
    n_noise = int(background * n_documents)
    story = np.concatenate([np.arange(n_stories), rng.integers(n_stories, size=n_documents - n_noise - n_stories)])
    begins = np.sort(rng.uniform(0, 0.9 * n_days, size=n_stories))
    when = begins[story] + np.where(np.arange(story.size) < n_stories, 0.0, rng.exponential(n_days / 15, story.size))
    when = np.concatenate([when, rng.uniform(0, n_days, size=n_noise)])
    owner = np.concatenate([story, np.full(n_noise, -1)])
    casts = [_cast(rng) for _ in range(n_stories)]
    told: dict[int, list[tuple[str, str]]] = {}
    start = datetime(2026, 1, 1, tzinfo=UTC)
    documents = []
    for i, at in enumerate(np.argsort(when, kind="stable")):
        k = int(owner[at])
        earlier = told.setdefault(k, [])
        if earlier and k >= 0 and rng.random() < duplicates:
            title, body = earlier[int(rng.integers(len(earlier)))]
        else:
            title, body = _report(rng, casts[k] if k >= 0 else _cast(rng, idle=True), sentences)
            earlier.append((title, body))
        documents.append(
            Document(
                id=f"doc-{i:06d}",
                text=f"{title}\n{body}",
                time=start + timedelta(seconds=round(float(when[at]) * 86400)),
                title=title,
                source=f"paper-{int(rng.integers(8))}",
                label=f"story-{k:04d}" if k >= 0 else None,
            )
        )
    return TextStream("synthetic", tuple(documents))


def _name(rng: np.random.Generator) -> str:
    return "".join(rng.choice(_SYLLABLES, size=3)).capitalize()


def _cast(rng: np.random.Generator, *, idle: bool = False) -> tuple[str, list[str], list[str]]:
    """A story's headline, the words of its kind, and its own names and figures."""
    own = [_name(rng) for _ in range(9)] + [str(int(rng.integers(12, 9800))) for _ in range(3)]
    if idle:
        return f"Notes from {own[0]}", _EVERYDAY, own[:3]
    headline, words = _KINDS[int(rng.integers(len(_KINDS)))]
    return headline.format(place=own[0], name=own[1]), words.split(), own


def _report(rng: np.random.Generator, cast: tuple[str, list[str], list[str]], sentences: int) -> tuple[str, str]:
    headline, words, own = cast
    lines = []
    for _ in range(sentences):
        parts = [*rng.choice(words, 3), *rng.choice(own, 4), *rng.choice(_EVERYDAY, 4)]
        rng.shuffle(parts)
        line = " ".join(map(str, parts))
        lines.append(line[0].upper() + line[1:] + ".")
    return f"{headline}, {rng.choice(own)} {rng.choice(words)}", " ".join(lines)
