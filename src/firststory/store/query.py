"""What people type to find documents: words, "phrases", OR, -without, source:, story:, since: and until:.

Examples
--------
>>> asked = parse_query('"suspicious package" bomb OR explosive -cnn source:npr')
>>> asked.wanted, asked.unwanted, asked.sources
((('suspicious package',), ('bomb', 'explosive')), ('cnn',), ('npr',))
"""

from __future__ import annotations

from dataclasses import dataclass, field

import regex

from firststory.store.search import cut

FILTERS = ("source", "story", "since", "until")
LONGEST = 400
"""Characters of a query."""
MOST_WORDS = 40
_PIECE = regex.compile(r'\s*(?P<minus>-?)(?:(?P<name>source|story|since|until):)?(?:"(?P<phrase>[^"]*)"|(?P<word>\S+))')


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for: every group of `wanted` must be there, by one of its phrases."""

    wanted: tuple[tuple[str, ...], ...] = ()
    unwanted: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    """Parts of names of sources; one of them must fit."""
    stories: tuple[str, ...] = ()
    since: str | None = None
    """As it was typed: 24h, 7d, 2018-10-24."""
    until: str | None = None
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Where `since` and `until` stand in what was typed."""

    @property
    def phrases(self) -> tuple[str, ...]:
        """All that is looked for, to be marked where it was found."""
        return tuple(phrase for group in self.wanted for phrase in group)


class QueryError(ValueError):
    """A query that cannot be understood: what is wrong with it, where, and what may have been meant."""

    def __init__(self, title: str, explanation: str, start: int, end: int, suggestion: str = "") -> None:
        super().__init__(title)
        self.title, self.explanation = title, explanation
        self.start, self.end = start, end
        self.suggestion = suggestion


def parse_query(typed: str) -> Query:
    """Understand a query, or say where it cannot be understood."""
    if len(typed) > LONGEST:
        raise QueryError("The query is too long", f"At most {LONGEST} characters are read.", LONGEST, len(typed))
    _check_quotes(typed)
    wanted: list[list[str]] = []
    found: dict[str, list[str]] = {name: [] for name in (*FILTERS, "unwanted")}
    places: dict[str, tuple[int, int]] = {}
    joins, end = False, 0
    for piece in _PIECE.finditer(typed):
        start, end = piece.start("minus"), piece.end()
        name, words = piece["name"], piece["phrase"] if piece["phrase"] is not None else piece["word"]
        if piece["word"] == "OR" and not piece["minus"] and not name:
            if not wanted or joins:
                raise _lonely_or(typed, start)
            joins = True
        elif name:
            if not words.strip():
                raise QueryError(f"{name}: what?", "A word is missing after the colon:", start, end)
            found[name].append(words.strip())
            places[name] = start, end
        elif not cut(words):
            if piece["minus"] and not piece["phrase"]:
                raise QueryError("Without what?", "A word is missing after the minus sign:", start, start + 1)
        elif piece["minus"]:
            found["unwanted"].append(" ".join(words.split()))
        elif joins:
            wanted[-1].append(" ".join(words.split()))
            joins = False
        else:
            wanted.append([" ".join(words.split())])
    if joins:
        raise _lonely_or(typed, typed.rindex("OR"))
    if found["unwanted"] and not wanted and not any(found[name] for name in FILTERS):
        raise QueryError(
            "Only what is not wanted", "Name at least one word that is wanted; this takes away alone:", 0, len(typed)
        )
    if sum(map(len, wanted)) + len(found["unwanted"]) > MOST_WORDS:
        raise QueryError("Too many words", f"At most {MOST_WORDS} are looked for at a time.", 0, len(typed))
    return Query(
        wanted=tuple(map(tuple, wanted)),
        unwanted=tuple(found["unwanted"]),
        sources=tuple(found["source"]),
        stories=tuple(found["story"]),
        since=next(reversed(found["since"]), None),
        until=next(reversed(found["until"]), None),
        places=places,
    )


def _check_quotes(typed: str) -> None:
    if typed.count('"') % 2:
        at = typed.rindex('"')
        rest = typed[at + 1 :]
        words = rest.split()
        # What follows a filter or a minus sign hardly belongs to the phrase.
        inside = next((n for n, word in enumerate(words) if word.startswith("-") or ":" in word), len(words))
        phrase, after = " ".join(words[:inside]), " ".join(words[inside:])
        closed = f'{typed[:at]}"{phrase}"' if phrase else typed[:at].rstrip()
        raise QueryError(
            "A quotation mark is open",
            "The phrase begins here and never ends:",
            at,
            at + 1,
            f"{closed} {after}".strip(),
        )


def _lonely_or(typed: str, at: int) -> QueryError:
    without = f"{typed[:at].rstrip()} {typed[at + 2 :].lstrip()}".strip()
    return QueryError("OR needs a word on both sides", "One is missing here:", at, at + 2, without)


def fts5(query: Query) -> str:
    """As SQLite's FTS5 reads it; empty where no word is looked for.

    Examples
    --------
    >>> fts5(parse_query('"e-mail" OR letter -spam'))
    '(("e-mail" OR "letter")) NOT ("spam")'
    """
    groups = [" OR ".join(map(_quoted, group)) for group in query.wanted]
    if not groups:
        return ""
    words = " AND ".join(f"({group})" for group in groups)
    without = " OR ".join(map(_quoted, query.unwanted))
    return f"({words}) NOT ({without})" if without else f"({words})"


def tsquery(query: Query) -> str:
    """As PostgreSQL reads it; empty where no word is looked for.

    Examples
    --------
    >>> tsquery(parse_query('"e-mail" OR letter -spam'))
    "(('e' <-> 'mail') | ('letter')) & !('spam')"
    """
    groups = [" | ".join(map(_lexemes, group)) for group in query.wanted]
    if not groups:
        return ""
    return " & ".join([*(f"({group})" for group in groups), *(f"!{_lexemes(phrase)}" for phrase in query.unwanted)])


def _quoted(phrase: str) -> str:
    return '"' + phrase.replace('"', '""').replace("\0", " ") + '"'


def _lexemes(phrase: str) -> str:
    return "(" + " <-> ".join(f"'{word}'" for word in cut(phrase)) + ")"
