"""Frozen records that are quick to make, or made when somebody reads them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import update_wrapper
from typing import Any, Generic, Self, TypeVar

Record = TypeVar("Record")
Made = TypeVar("Made", covariant=True)


def quickly_made(record: type[Record]) -> type[Record]:
    """A frozen dataclass with slots, made in half the time: a step makes thousands of them.

    The `__init__` of a frozen dataclass looks up every slot by its name; this one has them at hand.
    """
    arguments, lines, known = ["self"], list[str](), dict[str, Any]({"MISSING": MISSING})
    for one in fields(record):  # type: ignore[arg-type]
        name, value = one.name, one.name
        known[f"set_{name}"] = getattr(record, name).__set__
        if one.default_factory is not MISSING:
            known[f"make_{name}"] = one.default_factory
            value = f"make_{name}() if {name} is MISSING else {name}"
            arguments.append(f"{name}=MISSING")
        elif one.default is not MISSING:
            known[f"default_{name}"] = one.default
            arguments.append(f"{name}=default_{name}")
        else:
            arguments.append(name)
        lines.append(f"    set_{name}(self, {value})")
    exec(f"def __init__({', '.join(arguments)}):\n" + "\n".join(lines), known)  # as dataclasses do
    record.__init__ = update_wrapper(known["__init__"], record.__init__)  # type: ignore[misc, method-assign]
    return record


class Ingredients(ABC, Generic[Made]):
    """What makes a record, and can tell its values where nobody wants the record itself: a store, for one."""

    __slots__ = ()

    @abstractmethod
    def __call__(self) -> Made:
        """The record."""

    @abstractmethod
    def values(self) -> tuple[Any, ...]:
        """Its values; records among them as tuples of theirs."""


class MadeWhenRead:
    """Base of a frozen dataclass with slots whose records may be worked out when somebody reads them: few ever are.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, slots=True)
    ... class Pair(MadeWhenRead):
    ...     one: int
    ...     other: int
    >>> Pair.later(lambda: Pair(1, 2)) == Pair(1, 2)
    True
    """

    __slots__ = ("_make",)

    @classmethod
    def later(cls, make: Callable[[], Self]) -> Self:
        """A record with the values of the one that `make` will give: always the same, whenever it is called."""
        record = cls.__new__(cls)
        _set_make(record, make)
        return record

    def unread(self) -> Callable[[], Self] | None:
        """What will make the values; None where they are there already."""
        try:
            return object.__getattribute__(self, "_make")  # type: ignore[no-any-return]
        except AttributeError:
            return None

    def __getattr__(self, name: str) -> Any:
        # Only called where a slot is empty.
        names: tuple[str, ...] = type(self).__match_args__  # type: ignore[attr-defined]
        if name not in names:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        make = self._make
        if make is not None:
            made = make()
            for one in names:
                object.__setattr__(self, one, getattr(made, one))
            _set_make(self, None)  # what it was made of may go; another thread that waits here finds the values
        return object.__getattribute__(self, name)


_set_make = MadeWhenRead._make.__set__  # type: ignore[attr-defined]
