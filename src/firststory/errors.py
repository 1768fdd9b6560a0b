"""Every error that firststory raises on purpose.

    FirststoryError
    ├── ParameterError (ValueError)      an argument outside what is allowed
    │   └── WidthError                   rows narrower than the vocabulary that was learnt
    ├── DocumentError (ValueError)       one bad document; a stream counts and quarantines it
    ├── StateError (ValueError)          saved state that cannot be loaded
    │   └── StateVersionError            because another version saved it
    │       └── OlderStateError          because an earlier version saved it
    ├── SourceError (OSError)            a source that cannot be read
    ├── DataError (OSError)              a corpus that is missing or damaged
    ├── StoreError (RuntimeError)        the store refused
    │   ├── SchemaError                  the store was written by a newer firststory
    │   ├── StoreFullError               no room left on the disk
    │   └── StoreLostError               the database server cannot be reached any more
    ├── EngineError (RuntimeError)       a process that is gone, a cluster without a worker of use
    └── MissingExtraError (ImportError)  an optional dependency is not installed

Each says in one sentence who complains (owner), about what (parameter), what was allowed, what was received, and what
to do about it (remedy). They inherit built-ins too, so that callers who know only Python still catch them.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any


class FirststoryError(Exception):
    """Root of the tree. All parts of the message are keywords and stay readable as attributes.

    `message` is a sentence for what the template "X must be Y; received Z" would say badly.

    Examples
    --------
    >>> print(FirststoryError(owner="f", parameter="x", allowed="positive", received=-1, remedy="Pass 1."))
    f: x must be positive; received -1. Pass 1.
    """

    def __init__(
        self,
        *,
        owner: str,
        parameter: str,
        allowed: str,
        received: object,
        remedy: str,
        message: str | None = None,
    ) -> None:
        self.owner = owner
        self.parameter = parameter
        self.allowed = allowed
        self.received = received
        self.remedy = remedy
        sentence = _short(message, 600) if message else f"{parameter} must be {allowed}; received {_short(received)}."
        self.without_owner = f"{sentence} {remedy}"
        """The message for the command line, where the owner is always firststory."""
        super().__init__(f"{owner}: {self.without_owner}")

    def __reduce__(self) -> tuple[Any, ...]:
        """For another process: what it was made of need not be known again."""
        return _again, (type(self), self.args, vars(self))


def _again(kind: type[FirststoryError], args: tuple[Any, ...], values: dict[str, Any]) -> FirststoryError:
    error = kind.__new__(kind, *args)
    error.args = args
    vars(error).update(values)
    return error


class ParameterError(FirststoryError, ValueError):
    """An argument outside what is allowed."""


class WidthError(ParameterError):
    """Rows narrower than what was learnt: a vocabulary only ever grows."""

    def __init__(self, owner: str, width: int, expected: int) -> None:
        super().__init__(
            owner=owner,
            parameter="the width of X",
            allowed=f"at least {expected}",
            received=width,
            remedy=f"X has {width} features, but {owner} is expecting {expected} features as input (or more: "
            "new terms are appended on the right). Use the vectorizer that the model was trained with.",
        )


class DocumentError(FirststoryError, ValueError):
    """One bad document. `reason` is the short word that the quarantine table keeps."""

    def __init__(
        self,
        reason: str,
        *,
        owner: str,
        parameter: str,
        allowed: str,
        received: object,
        remedy: str,
        message: str | None = None,
    ) -> None:
        self.reason = reason
        super().__init__(
            owner=owner, parameter=parameter, allowed=allowed, received=received, remedy=remedy, message=message
        )


class StateError(FirststoryError, ValueError):
    """Saved state that cannot be loaded."""


class StateVersionError(StateError):
    """Saved state of another version."""


class OlderStateError(StateVersionError):
    """Saved state of an earlier version, which this one does not read."""


class SourceError(FirststoryError, OSError):
    """A source that cannot be read."""


class DataError(FirststoryError, OSError):
    """A corpus that is missing or damaged."""


class StoreError(FirststoryError, RuntimeError):
    """The store refused."""


class SchemaError(StoreError):
    """The store was written by a newer firststory."""


class StoreFullError(StoreError):
    """No room left where the store lives."""


class StoreLostError(StoreError):
    """The server of the store's database cannot be reached, or went away."""


class EngineError(FirststoryError, RuntimeError):
    """A process that computes is gone; a cluster cannot be reached, or has no worker of use."""


class MissingExtraError(FirststoryError, ImportError):
    """An optional dependency is not installed."""

    def __init__(self, owner: str, module: str, extra: str) -> None:
        self.extra = extra
        super().__init__(
            owner=owner,
            parameter=f"the Python package {module!r}",
            allowed="installed",
            received="nothing by that name",
            remedy=f"Type: pip install 'firststory[{extra}]'",
            message=f"The Python package {module!r} is not installed.",
        )


def not_one_of(
    owner: str, name: str, allowed: Iterable[str], received: object, remedy: str | None = None
) -> ParameterError:
    """The error for a value that is not in a list; it names the nearest one that is.

    Examples
    --------
    >>> print(not_one_of("settings", "topics", ("none", "nmf"), "nfm"))
    settings: topics must be one of none, nmf; received nfm. Did you mean nmf?
    """
    known = list(allowed)
    near = get_close_matches(str(received), known, n=1)
    if remedy is None or near:
        remedy = f"Did you mean {near[0]}?" if near else "Leave it out for the default."
    return ParameterError(
        owner=owner, parameter=name, allowed="one of " + ", ".join(known), received=received, remedy=remedy
    )


def _short(value: object, limit: int = 200) -> str:
    """A value for a message: one line that can be stored, never the whole of a 50 MB document."""
    text = value if isinstance(value, str) else repr(value)
    text = " ".join(text[: 4 * limit].split()).encode("utf-8", "replace").decode("utf-8")
    return text if len(text) <= limit else text[: limit - 1] + "…"
