"""How the columns of the documents of a batch read, for stories and alerts."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from firststory.pipeline.in_progress import InProgress
from firststory.text.surfaces import SurfaceForms

LEAD_CHARACTERS = 1500
"""Where the words that name a story are looked for: news says first what it is about."""


class SurfacesOfBatch:
    """How the columns of each document of a batch read; `look_up` is asked when the first document is."""

    def __init__(self, look_up: Callable[[], SurfaceForms]) -> None:
        self._look_up = look_up
        self._forms: SurfaceForms | None = None

    def of(self, one: InProgress) -> Mapping[int, str]:
        """Each column of a document as it reads where it first stands."""
        if one.tokens:
            # Of several tokens with one column the first is kept: later keys would replace it, hence reversed.
            return {token.column: token.surface for token in reversed(one.tokens) if token.column >= 0}
        return self.looked_up().text(one.place)

    def looked_up(self) -> SurfaceForms:
        """Those of all documents; from now on the vectorizer may learn other batches."""
        if self._forms is None:
            self._forms = self._look_up()
        return self._forms
