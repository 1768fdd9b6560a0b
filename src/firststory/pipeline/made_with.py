"""What results depend on beside settings and input: recorded in the store, and told when it changes."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from firststory._version import __version__
from firststory.pipeline.build import wants_meaning
from firststory.pipeline.protocols import Detector
from firststory.settings import Settings

PACKAGES = ("numba", "numpy", "py3langid", "PyStemmer", "regex", "scikit-learn", "scipy", "stopwordsiso")
"""What reads, counts and computes."""
TABLE = "table of word vectors"
NONE = "none"


def made_with(settings: Settings, detector: Detector | None = None) -> dict[str, str]:
    """The versions of everything that could move a score on another machine."""
    found = {"firststory": __version__} | {name: _version(name) for name in PACKAGES}
    if wants_meaning(settings, detector):
        found[TABLE] = _version("wordllama")
    if settings.segmenter == "icu":
        found["ICU"] = _icu_version()
    return found


def what_changed(before: Mapping[str, str], now: Mapping[str, str]) -> str | None:
    """A sentence for people where something is not as it was.

    Examples
    --------
    >>> what_changed({"numpy": "2.0", "regex": "1"}, {"numpy": "2.1", "regex": "1"})
    'This store was made with numpy 2.0, here is 2.1: scores from here on may differ a little.'
    """
    changes = [
        f"{name} {before.get(name, NONE)}, here is {now.get(name, NONE)}"
        for name in sorted({*before, *now})
        if before.get(name, NONE) != now.get(name, NONE)
    ]
    if not changes:
        return None
    words = "; with ".join(changes)
    return f"This store was made with {words}: scores from here on may differ a little."


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return NONE


def _icu_version() -> str:
    try:
        import icu

        return f"{icu.ICU_VERSION} (Unicode {icu.UNICODE_VERSION})"
    except ImportError:  # the vectorizer says what to install
        return NONE
