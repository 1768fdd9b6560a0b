"""`firststory token revoke`: let someone in no more."""

from __future__ import annotations

from typing import Annotated

import typer

from firststory.cli import options


def token_revoke(
    token: Annotated[str, typer.Argument(metavar="TOKEN", help="Its id, or its name where no other has it.")],
    store: options.StoreUrl = None,
    config: options.Config = None,
) -> None:
    """Refuse a token from now on, and sign out every browser that came in with it. A service follows in a second."""
    from firststory.store.tokens import revoke_token

    with options.open_store(store, config, writes=True) as opened:
        revoked = revoke_token(opened, token)
    print(f"Token {revoked.id} ({revoked.name}) is refused from now on.")
