"""What a command need not load: scikit-learn looks for pandas, and asks SciPy for its statistics, at its own import."""

from __future__ import annotations

import sys
from importlib.util import find_spec, module_from_spec
from threading import RLock
from types import ModuleType
from typing import Any

UNUSED = "scipy.special", "scipy.stats", "numpy.f2py", "numpy.testing"
"""What libraries import for others to use; a run has no use for it."""


def load_estimators() -> None:
    """Load scikit-learn without pandas (and with it PyArrow), and what it has no use for here when someone uses it.

    For a process of our own: no command hands a data frame to scikit-learn.
    """
    if "sklearn" in sys.modules:
        return
    for name in UNUSED:
        load_when_used(name)
    is_hidden = "pandas" not in sys.modules
    if is_hidden:
        sys.modules["pandas"] = None  # type: ignore[assignment]  # an import of it fails
    try:
        import sklearn.base  # noqa: F401
    finally:
        if is_hidden:
            del sys.modules["pandas"]


def load_when_used(name: str) -> None:
    """Let a module be loaded by the first look at something in it; to import it loads nothing.

    The library's own `LazyLoader` loads a module as soon as it is imported a second time: an import looks at
    `__spec__`, and any look will do.
    """
    if name in sys.modules:
        return
    spec = find_spec(name)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    module.__class__ = _LoadedWhenUsed
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, module)


_loading = RLock()


class _LoadedWhenUsed(ModuleType):
    """A module whose code has not run: it knows no name but those that every module has."""

    def __getattr__(self, name: str) -> Any:
        with _loading:
            if type(self) is _LoadedWhenUsed:
                self.__class__ = ModuleType  # type: ignore[assignment]
                self.__spec__.loader.exec_module(self)  # type: ignore[union-attr]
        return getattr(self, name)
