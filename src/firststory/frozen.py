"""Frozen records that are quick to make."""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import update_wrapper
from typing import Any, TypeVar

Record = TypeVar("Record")


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
