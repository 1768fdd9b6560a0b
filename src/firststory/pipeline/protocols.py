"""What the step asks of its parts: a detector, vectorizer or topic model of your own needs these methods only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, runtime_checkable

import scipy.sparse as sp
from numpy.typing import ArrayLike

from firststory.arrays import Array, Flags, Floats, Ints
from firststory.records import Topic, TopicEvent
from firststory.state import State, Stateful

if TYPE_CHECKING:
    from firststory.engines.engine import Engine
    from firststory.text.read_tokens import ReadTokens
    from firststory.text.records import CountedRows
    from firststory.text.surfaces import SurfaceForms
    from firststory.text.vocabulary import Remap


@runtime_checkable
class Detector(Protocol):
    """Scores rows by the past, then learns them. Every public detector of firststory is one."""

    def score_then_learn(self, X: sp.csr_matrix, y: Any = None, *, times: ArrayLike | None = None) -> Floats:
        """The novelty of each row, higher is more novel; then the rows are part of the past."""
        ...

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """scikit-learn's parameters."""
        ...

    def get_state(self) -> State:
        """All that its future depends on."""
        ...

    @classmethod
    def from_state(cls, state: State) -> Self:
        """The same detector again."""
        ...


@runtime_checkable
class KnowsNeighbours(Protocol):
    """A detector that names the nearest earlier rows."""

    def last_neighbours(self) -> tuple[Ints, Floats]:
        """For each row of the last batch the ordinals of the nearest earlier rows, nearest first, -1 for none; and
        their cosines."""
        ...


@runtime_checkable
class ScoresInParts(Protocol):
    """A detector whose score is made of two similarities, so that feedback can weigh them."""

    def last_parts(self) -> tuple[Floats, Floats]:
        """For each row of the last batch the likeness to the nearest row, and to the nearest cluster."""
        ...


@runtime_checkable
class Explains(Protocol):
    """A detector that says which part of a row the past does not explain."""

    def explain(self, X: sp.csr_matrix) -> sp.csr_matrix:
        """What is left of each term."""
        ...


@runtime_checkable
class TakesVectors(Protocol):
    """A detector that compares dense vectors beside the rows: `score_then_learn(..., vectors=...)`."""

    takes_vectors: bool


@runtime_checkable
class UsesEngine(Protocol):
    """A detector whose steps fall into blocks that an engine can compute; the results are the same bits."""

    def use_engine(self, engine: Engine | None) -> None: ...


@runtime_checkable
class HasColumns(Protocol):
    """A part that keeps columns of the vocabulary, and follows when a pruning renumbers them."""

    def columns_in_use(self) -> Ints:
        """The columns that must not go."""
        ...

    def renumber(self, new: Ints) -> None:
        """Column v becomes `new[v]`, in the same order; what is -1 is forgotten."""
        ...


class Vectorizer(Stateful, Protocol):
    """Texts in, sparse rows out, over a vocabulary that grows."""

    max_terms: int

    n_dropped_: int

    @property
    def last_languages(self) -> Sequence[str]:
        """The language of each document that was learnt last."""
        ...

    @property
    def n_documents_(self) -> int: ...

    def partial_fit_with_counts(self, texts: Iterable[str]) -> CountedRows:
        """Rows of the next documents, which are part of the past from then on."""
        ...

    def last_tokens(self) -> ReadTokens:
        """The terms of the texts that were learnt last, where they stand."""
        ...

    def last_surface_forms(self, lead: int | Ints | None = None) -> SurfaceForms:
        """How the columns read in the texts that were learnt last, within the first `lead` characters."""
        ...

    def frequency_of(self, columns: Array) -> Floats:
        """In how many documents each column has been."""
        ...

    def is_common(self, columns: Array) -> Flags:
        """Which columns are stop words, which are not shown."""
        ...

    @property
    def terms_(self) -> Sequence[str]:
        """The terms by their columns."""
        ...

    def prune(self, *, keep: Array) -> Remap:
        """Drop terms but these, and say where every column went."""
        ...


class TopicModel(Stateful, Protocol):
    """Learns topics from rows, one timestep at a time, and follows them."""

    def partial_fit(self, X: sp.csr_matrix) -> Any:
        """Learn one timestep; the rows may be wider than before."""
        ...

    def snapshot(self, vocabulary: Sequence[str], n_terms: int = 10) -> tuple[Topic, ...]:
        """The topics after the last timestep, largest first."""
        ...

    def last_events(self) -> tuple[TopicEvent, ...]:
        """What happened to the topics in the last timestep."""
        ...

    def renumber(self, new: Ints) -> None:
        """Column v becomes `new[v]`, in the same order; what is -1 is forgotten."""
        ...
