"""Who is asking: a bearer token, the cookie of a browser that signed in, or nobody where nobody is asked."""

from __future__ import annotations

import secrets
import time
from collections import OrderedDict

from starlette.requests import Request

from firststory.errors import StoreError
from firststory.serve.visitor import Visitor
from firststory.store import tokens
from firststory.store.store import Store
from firststory.store.tokens import Token

LOOKED_UP_FOR = 1.0
"""Seconds for which an answer of the store is believed: a revoked token is refused this much later at most."""
MOST_SESSIONS = 10_000
COOKIE = "firststory_session"
SECURE_COOKIE = "__Host-firststory_session"
EVERYONE = Visitor("", frozenset(tokens.SCOPES))


class Authentication:
    """Knows the tokens and the sessions of a store.

    Parameters
    ----------
    reader, writer : Store
        The store; without a writer sessions live in this process only.
    is_demanded : bool
        Whether a token is needed even where the store has none: then nobody gets in.
    session_seconds : int
        How long a browser stays signed in.
    """

    def __init__(self, reader: Store, writer: Store | None, *, is_demanded: bool, session_seconds: int) -> None:
        self._reader, self._writer = reader, writer
        self._is_demanded, self._session_seconds = is_demanded, session_seconds
        self._tokens: tuple[Token, ...] = ()
        self._looked_up = 0.0
        self._sessions: OrderedDict[str, tuple[str | None, float]] = OrderedDict()
        """Hash of a secret: the id of its token (None: no such session), and until when that is believed."""
        self._used: dict[str, Token] = {}
        """Tokens that were used since that was noted last."""

    @property
    def is_stale(self) -> bool:
        """Whether the tokens must be looked up again, which may take a while."""
        return time.monotonic() - self._looked_up > LOOKED_UP_FOR

    def look_up(self) -> None:
        """Read the tokens of the store."""
        self._tokens = tokens.tokens(self._reader)
        self._looked_up = time.monotonic()

    def is_needed(self) -> bool:
        """Whether visitors must say who they are: always, unless no token was ever made and only this machine can ask.

        To revoke the last token must not open the door to everyone.
        """
        return self._is_demanded or bool(self._tokens)

    def by_token(self, given: str) -> Visitor | None:
        """The visitor who has a token."""
        token = tokens.matching(given, self._tokens)
        return None if token is None else self._visitor(token)

    def by_session(self, secret: str) -> Visitor | None:
        """The visitor who signed in."""
        identity = self._token_of(secret)
        token = next((one for one in self._tokens if one.id == identity and one.revoked is None), None)
        return None if token is None else self._visitor(token)

    def sign_in(self, given: str) -> str | None:
        """The secret of a new session; None where the token is not known."""
        token = tokens.matching(given, self._tokens)
        if token is None:
            return None
        if self._writer is not None:
            try:
                return tokens.begin_session(self._writer, token, self._session_seconds)
            except StoreError:  # full, or away: a session in memory is better than none
                pass
        secret = secrets.token_urlsafe(32)
        self._remember(tokens.hash_of(secret), token.id, self._session_seconds)
        return secret

    def sign_out(self, secret: str) -> None:
        """End a session."""
        self._remember(tokens.hash_of(secret), None, self._session_seconds)
        if self._writer is not None:
            tokens.end_session(self._writer, secret)

    def note_used(self) -> None:
        """Write down which tokens were used; now and then, since it is a write."""
        used, self._used = self._used, {}
        for token in used.values():
            if self._writer is not None:
                tokens.note_use(self._writer, token)

    def _visitor(self, token: Token) -> Visitor:
        self._used[token.id] = token
        return Visitor(token.name, token.scopes, token.id)

    def _token_of(self, secret: str) -> str | None:
        hashed = tokens.hash_of(secret)
        identity, until = self._sessions.get(hashed, (None, 0.0))
        if time.monotonic() < until:
            return identity
        found = tokens.session_of(self._reader, secret)
        self._remember(hashed, None if found is None else found.token, LOOKED_UP_FOR)
        return None if found is None else found.token

    def _remember(self, hashed: str, identity: str | None, seconds: float) -> None:
        self._sessions[hashed] = (identity, time.monotonic() + seconds)
        self._sessions.move_to_end(hashed)
        while len(self._sessions) > MOST_SESSIONS:
            self._sessions.popitem(last=False)


def bearer_of(request: Request) -> str | None:
    """The token in the header `Authorization`; None where there is none."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    return given.strip() if scheme.lower() == "bearer" and given.strip() else None


def cookie_of(request: Request) -> str | None:
    """The secret of the session that a browser sends."""
    return request.cookies.get(SECURE_COOKIE if request.scope["scheme"] == "https" else COOKIE)
