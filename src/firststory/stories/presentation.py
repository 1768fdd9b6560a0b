"""How a story is shown: its title and its key terms."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from firststory.arrays import Ints
from firststory.harmless import harmless
from firststory.stories.whole_names import whole_names

N_KEY_TERMS = 8
MAX_SURFACES = 256
MIN_SIZE_FOR_CENTRAL = 3
"""Documents from which on a story bears the title of its most central one; before, that of its first."""
MAX_SIZE_FOR_CENTRAL = 12
"""The size of a story at its last choice of a title, from which on the title stays."""
MAX_TERM_CHARACTERS = 60


class Representative(NamedTuple):
    """The document whose title a story bears."""

    id: str
    title: str


class Presentation:
    """The representative, the key terms, and how terms read in the first documents.

    Both are renewed from time to time: `title_size` and `terms_size` are the sizes that the story had then.
    """

    __slots__ = ("_surfaces", "key_terms", "representative", "terms_size", "title_size")

    def __init__(self, representative: Representative) -> None:
        self.representative = representative
        self.title_size = 0
        self.key_terms: tuple[str, ...] = ()
        self.terms_size = 0
        self._surfaces: list[Mapping[int, str]] = []
        """How a column reads, as the first that has it tells."""

    def is_title_due(self, size: int) -> bool:
        """A title that changed with every document would be no name: it is chosen when the story has doubled.

        From some size on it stays: what comes later tells what followed, not what happened.
        """
        return size >= max(MIN_SIZE_FOR_CENTRAL, 2 * self.title_size) and self.title_size < MAX_SIZE_FOR_CENTRAL

    def set_title(self, representative: Representative, size: int) -> None:
        self.representative, self.title_size = representative, size

    def set_key_terms(self, heaviest: Sequence[int], size: int, titles: Iterable[str] = ()) -> None:
        """The key terms: of the heaviest columns those whose surface form is known, with names as the titles have them.

        The names of a story that has just been opened are not looked up: most never get a second document.
        """
        if size < MIN_SIZE_FOR_CENTRAL:
            known = self._known(heaviest, N_KEY_TERMS)
        else:
            known = whole_names(self._known(heaviest, 2 * N_KEY_TERMS), titles)
        self.key_terms = tuple([term if _is_plain(term) else _cleaned(term) for term in known[:N_KEY_TERMS]])
        self.terms_size = size

    # -- surface forms -------------------------------------------------------------------------------------

    def add_surfaces(self, surfaces: Mapping[int, str]) -> None:
        """How terms read in another document; what is known already stays."""
        before = self._surfaces
        if not isinstance(surfaces, dict):
            before.append(surfaces)
        elif before and isinstance(before[-1], dict):
            before[-1] = {**surfaces, **before[-1]}
        else:
            before.append(dict(surfaces))

    def surface_of(self, column: int) -> str | None:
        """How a term reads; None where that is not known."""
        return next((some[column] for some in self._surfaces if column in some), None)

    def _known(self, columns: Sequence[int], n: int) -> list[str]:
        """How the first n columns read of which that is known; -1: no more columns."""
        known: list[str] = []
        for some in (columns[: 2 * n], columns[2 * n :]):  # most often the first are enough
            if len(known) < n and some and some[0] >= 0:
                known += [surface for surface in map(self._surfaces_of(some).get, some) if surface is not None]
        return known[:n]

    def _surfaces_of(self, columns: Collection[int]) -> Mapping[int, str]:
        """How some terms read, perhaps others too."""
        if len(self._surfaces) == 1 and isinstance(self._surfaces[0], dict):
            return self._surfaces[0]  # short texts
        found: dict[int, str] = {}
        for some in reversed(self._surfaces):
            found |= _some(some, columns)
        return found

    @property
    def surfaces(self) -> dict[int, str]:
        """How each term reads: those of later documents stand first."""
        found: dict[int, str] = {}
        for some in self._surfaces:
            found = {**_whole(some), **found}
        return found

    def has_too_many_surfaces(self) -> bool:
        most = 2 * MAX_SURFACES
        return sum(map(len, self._surfaces)) > most and len(self.surfaces) > most

    def keep_surfaces(self, columns: Iterable[int]) -> None:
        """Forget the surface forms of all other columns."""
        surfaces = self.surfaces
        self._surfaces = [{column: surfaces[column] for column in sorted(columns) if column in surfaces}]

    def renumber(self, new: Ints) -> None:
        """Columns under other numbers: column v becomes `new[v]`; -1 for one that is not in use."""
        self._surfaces = [{int(new[c]): surface for c, surface in self.surfaces.items() if new[c] >= 0}]

    # -- state ---------------------------------------------------------------------------------------------

    def get_surfaces(self) -> Sequence[Mapping[int, str]]:
        """How terms read, text by text: the first that has a column tells."""
        return self._surfaces

    def set_surfaces(self, surfaces: Iterable[Mapping[int, str]]) -> None:
        """Undo `get_surfaces`."""
        self._surfaces = list(surfaces)


def _some(surfaces: Mapping[int, str], columns: Collection[int]) -> dict[int, str]:
    """Those of some columns that are there; a mapping may know how to find them quickly."""
    find: Callable[[Collection[int]], dict[int, str]] | None = getattr(surfaces, "some", None)
    return {column: surfaces[column] for column in columns if column in surfaces} if find is None else find(columns)


def _whole(surfaces: Mapping[int, str]) -> Mapping[int, str]:
    """All of them, likewise."""
    find: Callable[[], dict[int, str]] | None = getattr(surfaces, "whole", None)
    return surfaces if find is None else find()


def _is_plain(surface: str) -> bool:
    """Whether there is nothing to clean: most terms."""
    return surface.isascii() and surface.isalnum() and len(surface) <= MAX_TERM_CHARACTERS


@lru_cache(maxsize=1 << 14)
def _cleaned(surface: str) -> str:
    """A term as people see it."""
    # Twice: what the first pass takes out can leave a joiner with nothing to join.
    return harmless(harmless(surface, MAX_TERM_CHARACTERS), MAX_TERM_CHARACTERS)
