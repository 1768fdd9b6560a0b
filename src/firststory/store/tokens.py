"""Who may use the service: tokens, kept as hashes, and the sessions of browsers that signed in with one.

A token is 256 random bits, so one SHA-256 is enough: there is nothing to guess that a slow hash would protect.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import delete, insert, select, update

from firststory.errors import ParameterError, StoreError, not_one_of
from firststory.store import schema
from firststory.store.store import Store

SCOPES = ("read", "write")
PREFIX = "fst"
NAME_LENGTH = 100
NOTED_EVERY = 60_000_000
"""Microseconds between two notes that a token was used."""
_NO_HASH = hashlib.sha256(b"no token").hexdigest()


class Token(NamedTuple):
    """What is known of a token; not the token itself."""

    id: str
    name: str
    hash: str
    scopes: frozenset[str]
    created: int
    used: int | None
    """When it was used last, to the minute; times are microseconds since 1970."""
    revoked: int | None


class Session(NamedTuple):
    """A browser that signed in."""

    hash: str
    token: str
    expires: int


def now() -> int:
    """Microseconds since 1970."""
    return time.time_ns() // 1000


def create_token(store: Store, name: str, scopes: Collection[str]) -> str:
    """Make a token and return it: this is the only time that it can be seen."""
    for scope in scopes:
        if scope not in SCOPES:
            raise not_one_of("token", "--scope", SCOPES, scope)
    if not name.strip() or len(name) > NAME_LENGTH or not name.isprintable():
        raise ParameterError(
            owner="token",
            parameter="NAME",
            allowed=f"a name of 1 to {NAME_LENGTH} characters",
            received=name,
            remedy="Name whoever gets it: a person, a program.",
        )
    identity, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    token = f"{PREFIX}_{identity}_{secret}"
    row = {
        "id": identity,
        "name": name.strip(),
        "hash": hash_of(token),
        "scopes": " ".join(scope for scope in SCOPES if scope in scopes),
        "created": now(),
    }
    with store._writing_beside() as connection:
        connection.execute(insert(schema.tokens).values(row))
    return token


def tokens(store: Store) -> tuple[Token, ...]:
    """All tokens, oldest first."""
    table = schema.tokens
    with store._reading() as connection:
        rows = connection.execute(select(table).order_by(table.c.created, table.c.id)).all()
    return tuple(
        Token(row.id, row.name, row.hash, frozenset(row.scopes.split()), row.created, row.used, row.revoked)
        for row in rows
    )


def revoke_token(store: Store, name: str) -> Token:
    """Refuse a token, named by its id or its name, from now on, and end the sessions that it began."""
    known = [token for token in tokens(store) if name in (token.id, token.name) and token.revoked is None]
    if len(known) != 1:
        many = "several tokens" if known else "no token"
        raise StoreError(
            owner="token",
            parameter="TOKEN",
            allowed="the id of a token that is in use",
            received=name,
            remedy=f"Type: firststory token list --store {store.name}",
            message=f"The store has {many} {name}{'; name it by its id' if known else ''}.",
        )
    with store._writing_beside() as connection:
        table = schema.tokens
        connection.execute(update(table).where(table.c.id == known[0].id).values(revoked=now()))
        connection.execute(delete(schema.sessions).where(schema.sessions.c.token == known[0].id))
    return known[0]


def matching(given: str, known: Collection[Token]) -> Token | None:
    """The token that was given, where it is known and not revoked. Takes as long for one that is not."""
    _, _, rest = given.partition("_")
    identity = rest.partition("_")[0]
    found = next((token for token in known if token.id == identity and token.revoked is None), None)
    is_same = hmac.compare_digest(hash_of(given), _NO_HASH if found is None else found.hash)
    return found if is_same else None


def hash_of(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


def note_use(store: Store, token: Token) -> None:
    """Remember when a token was used last; at most once a minute."""
    moment = now()
    if token.used is None or moment - token.used > NOTED_EVERY:
        table = schema.tokens
        with store._writing_beside() as connection:
            connection.execute(update(table).where(table.c.id == token.id).values(used=moment))


def begin_session(store: Store, token: Token, seconds: int) -> str:
    """Let a browser in for some time; returns its secret, of which only the hash is kept. Old sessions are cleared."""
    secret, moment = secrets.token_urlsafe(32), now()
    row = {"hash": hash_of(secret), "token": token.id, "created": moment, "expires": moment + seconds * 1_000_000}
    with store._writing_beside() as connection:
        connection.execute(delete(schema.sessions).where(schema.sessions.c.expires < moment))
        connection.execute(insert(schema.sessions).values(row))
    return secret


def end_session(store: Store, secret: str) -> None:
    """Forget a session."""
    with store._writing_beside() as connection:
        connection.execute(delete(schema.sessions).where(schema.sessions.c.hash == hash_of(secret)))


def session_of(store: Store, secret: str) -> Session | None:
    """The session with this secret, where it is still good. Looked up by its hash: nothing is compared in pieces."""
    table = schema.sessions
    with store._reading() as connection:
        row = connection.execute(select(table).where(table.c.hash == hash_of(secret))).first()
    if row is None or row.expires < now():
        return None
    return Session(row.hash, row.token, row.expires)
