"""What a command need not load: scikit-learn looks for pandas, and asks SciPy for its statistics, at its own import."""

from __future__ import annotations

import sys
from importlib.util import LazyLoader, find_spec, module_from_spec


def load_estimators() -> None:
    """Load scikit-learn without pandas (and with it PyArrow), and SciPy's statistics only when someone uses them.

    For a process of our own: no command hands a data frame to scikit-learn.
    """
    if "sklearn" in sys.modules:
        return
    _load_when_used("scipy.stats")
    is_hidden = "pandas" not in sys.modules
    if is_hidden:
        sys.modules["pandas"] = None  # type: ignore[assignment]  # an import of it fails
    try:
        import sklearn.base  # noqa: F401
    finally:
        if is_hidden:
            del sys.modules["pandas"]


def _load_when_used(name: str) -> None:
    spec = find_spec(name)
    if name in sys.modules or spec is None or spec.loader is None:
        return
    spec.loader = LazyLoader(spec.loader)
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
