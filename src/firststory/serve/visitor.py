"""Who asks, and what they may do."""

from __future__ import annotations

from typing import NamedTuple


class Visitor(NamedTuple):
    """Someone whom the guard has let in."""

    name: str
    """The name of the token; empty where none is needed."""
    scopes: frozenset[str]
    token: str = ""
    """The id of the token."""

    @property
    def may_write(self) -> bool:
        return "write" in self.scopes

    @property
    def is_signed_in(self) -> bool:
        """Whether a token was needed, so that there is something to sign out of."""
        return bool(self.token)
