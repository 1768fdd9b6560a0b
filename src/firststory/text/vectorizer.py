"""Texts in, sparse rows out, over a stream: the vocabulary grows to the right and weights know the past only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from firststory.errors import ParameterError
from firststory.estimator import StreamEstimator
from firststory.kernels.text import counting
from firststory.parameters import Interval, StrOptions
from firststory.text.analyse import Analyser, Rules, normal
from firststory.text.chunks import Chunk, chunks
from firststory.text.forms import FormTable
from firststory.text.language import NEEDED, UNKNOWN, check_language, identify, letters, stop_words
from firststory.text.segmentation import best_segmenter
from firststory.text.surfaces import Cut, SurfaceForms
from firststory.text.vocabulary import Remap, Vocabulary
from firststory.text.weighting import DocumentFrequencies

_WEIGHTINGS = {"count": counting.COUNT, "binary": counting.BINARY, "tfidf": counting.TFIDF}
Scratch = tuple[NDArray[np.float64], NDArray[np.int32]]
"""Zeros, and room for columns: fresh memory for every document would cost more than the document."""
NO_SCRATCH: Scratch = np.zeros(0), np.zeros(0, dtype=np.int32)

SHORT_WORD = 3
"""Letters of a word that is dropped from short texts too, where it is a stop word."""

_NORMS = {None: counting.NO_NORM, "l1": counting.L1, "l2": counting.L2}


class Token(NamedTuple):
    """A term where it stands: `text[start:end] == surface`. `column` is -1 while the term has none."""

    surface: str
    start: int
    end: int
    term: str
    column: int


class CountedRows(NamedTuple):
    """Rows as they are weighted, and the counts that they were made of: equal columns, other values."""

    weights: sp.csr_matrix
    counts: sp.csr_matrix


class StreamVectorizer(TransformerMixin, StreamEstimator):
    r"""Turn the texts of a stream into sparse rows whose width grows as new terms appear.

    Each document is weighted by the document frequencies of the documents *before* it and then counted itself,
    one after the other whatever the size of the batch: cutting a stream into other batches gives the same rows.

    Parameters
    ----------
    language : str or None, default="auto"
        ISO 639-1 code, for stop words and stemming; "auto" finds it from the first texts (see `language_`);
        None keeps words whole and drops none.
    max_terms : int, default=262144
        Hard limit of the vocabulary. Once it is full new terms get no column: they are left out of the rows and
        counted in `n_dropped_`, until `prune` makes room.
    weighting : {"tfidf", "count", "binary"}, default="tfidf"
        tf-idf is :math:`x_v (\ln\frac{1 + N}{1 + df_v} + 1)` with N and df of the past only.
    norm : {"l1", "l2"} or None, default="l2"
        Norm that rows are brought to.
    sublinear : bool, default=False
        Use :math:`1 + \ln x` for the count x.
    half_life : float or None, default=None
        Let document frequencies fade: a document that lies `half_life` documents back counts half.
    surface_weight : float, default=1.0
        The weight of an occurrence that is capitalised or has a digit; `FusedNovelty` wants 2.0.
    short : int, default=0
        Texts of up to so many words are short: they keep their stop words of more than three letters (a headline has
        no words to spare), and in them capitals and digits count only the root of `surface_weight` times. 0: none is;
        `FusedNovelty` wants 30. What is kept so is never evidence: `tokens` leaves it out. A text of stop
        words only has no terms.
    stop_words : {"language", "sklearn"}, list of str or None, default="language"
        stopwordsiso's list of the language, scikit-learn's English list, your own, or none.
    stem : bool, default=True
        Reduce words to their stems, where Snowball has a stemmer of the language.
    token_rule : {"words", "plain"}, default="words"
        "words" knows numbers, dates, apostrophes, acronyms, hashtags, mentions, addresses and scripts without
        spaces. "plain" takes the runs of letters and digits (`[^\W_]+`), lower-cased, and nothing else.
    min_length : int, default=2
        Shorter words are left out (not in scripts without spaces).
    max_length : int, default=64
        Longer runs of letters are no words and are left out.
    urls : {"drop", "host"}, default="drop"
        What is left of a web address.
    mentions : {"drop", "keep"}, default="drop"
        Whether @name is a term.
    segmenter : {"auto", "icu", "bigrams"}, default="auto"
        Words of Chinese, Japanese, Thai, Lao, Khmer and Burmese: by ICU's dictionaries (`pip install
        'firststory[icu]'`) or as overlapping pairs of characters; "auto" takes ICU where it is installed.

    Attributes
    ----------
    vocabulary_ : Vocabulary
        Terms in first-seen order; `vocabulary_["storm"]` is the term's column or -1.
    language_ : str
        The language in use. With "auto" it is settled as soon as 600 letters have been seen ("und" where it cannot
        be told) and never changes afterwards; until then it follows what has been seen.
    segmenter_ : str
        "icu" or "bigrams", as decided when the stream began.
    document_frequency_, idf_ : arrays, one entry per term
    n_documents_ : int
    n_dropped_ : int
        Occurrences of terms that found the vocabulary full.
    prunings_ : list of [documents so far, width before, width after]

    Examples
    --------
    >>> from firststory.text import StreamVectorizer
    >>> v = StreamVectorizer(language="en", weighting="count", norm=None)
    >>> v.partial_fit_transform(["Storm closes the harbour bridge", "Bridges closed: 2 storms"]).toarray()
    array([[1., 1., 1., 1.],
           [1., 1., 0., 1.]])
    >>> v.get_feature_names_out().tolist()
    ['storm', 'close', 'harbour', 'bridg']
    >>> [(token.surface, token.column) for token in v.tokens("A storm at the Bridge!")]
    [('storm', 0), ('Bridge', 3)]

    Notes
    -----
    `fit_transform` is a stream's first pass (past-only weights), not `fit` followed by `transform`: the latter sees
    the frequencies of all documents, the later ones too.

    See Also
    --------
    firststory.text.Remap : what a pruning gives to learners.
    """

    vocabulary_: Vocabulary
    frequencies_: DocumentFrequencies
    language_: str
    language_sample_: str
    segmenter_: str
    n_dropped_: int
    prunings_: list[list[int]]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "language": [str, None],
        "max_terms": [Interval(Integral, 1, 2**31 - 1, closed="both")],
        "weighting": [StrOptions({"tfidf", "count", "binary"})],
        "norm": [StrOptions({"l1", "l2"}), None],
        "sublinear": ["boolean"],
        "half_life": [Interval(Real, 0, None, closed="neither"), None],
        "surface_weight": [Interval(Real, 1, None, closed="left")],
        "short": [Interval(Integral, 0, None, closed="left")],
        "stop_words": [StrOptions({"language", "sklearn"}), list, tuple, set, frozenset, None],
        "stem": ["boolean"],
        "token_rule": [StrOptions({"words", "plain"})],
        "min_length": [Interval(Integral, 1, None, closed="left")],
        "max_length": [Interval(Integral, 1, 4096, closed="both")],
        "urls": [StrOptions({"drop", "host"})],
        "mentions": [StrOptions({"drop", "keep"})],
        "segmenter": [StrOptions({"auto", "icu", "bigrams"})],
    }
    _state_parts: ClassVar[dict[str, Any]] = {"vocabulary_": Vocabulary, "frequencies_": DocumentFrequencies}

    def __init__(
        self,
        language: str | None = "auto",
        *,
        max_terms: int = 1 << 18,
        weighting: str = "tfidf",
        norm: str | None = "l2",
        sublinear: bool = False,
        half_life: float | None = None,
        surface_weight: float = 1.0,
        short: int = 0,
        stop_words: str | Iterable[str] | None = "language",
        stem: bool = True,
        token_rule: str = "words",
        min_length: int = 2,
        max_length: int = 64,
        urls: str = "drop",
        mentions: str = "drop",
        segmenter: str = "auto",
    ) -> None:
        self.language = language
        self.max_terms = max_terms
        self.weighting = weighting
        self.norm = norm
        self.sublinear = sublinear
        self.half_life = half_life
        self.surface_weight = surface_weight
        self.short = short
        self.stop_words = stop_words
        self.stem = stem
        self.token_rule = token_rule
        self.min_length = min_length
        self.max_length = max_length
        self.urls = urls
        self.mentions = mentions
        self.segmenter = segmenter

    # -- learning and transforming -------------------------------------------------------------------------

    def partial_fit_transform(self, texts: Iterable[str], y: Any = None) -> sp.csr_matrix:
        """Rows of the next documents, each weighted by what came before it; then they are part of the past."""
        return self.partial_fit_with_counts(texts).weights

    def partial_fit_with_counts(self, texts: Iterable[str]) -> CountedRows:
        """`partial_fit_transform`, with the counts that the rows were made of beside it.

        Examples
        --------
        >>> from firststory.text import StreamVectorizer
        >>> StreamVectorizer(language="en").partial_fit_with_counts(["storm storm flood"]).counts.toarray()
        array([[2., 1.]])
        """
        self._check_parameters()
        if not hasattr(self, "vocabulary_"):
            self._begin()
        documents = self._documents(texts)
        self._cuts = ()
        rows = []
        at = 0
        while at < len(documents) and self._unsettled:
            self._listen(documents[at])
            rows.append(self._vectorize(documents[at : at + 1], learn=True))
            at += 1
        rows.append(self._vectorize(documents[at:], learn=True))
        return CountedRows(*(_stacked(blocks, len(self.vocabulary_)) for blocks in zip(*rows, strict=True)))

    def partial_fit(self, texts: Iterable[str], y: Any = None) -> Self:
        """Learn the next documents."""
        self.partial_fit_transform(texts)
        return self

    def fit(self, texts: Iterable[str], y: Any = None) -> Self:
        """Forget everything, then learn the texts as the beginning of a stream."""
        self.fit_transform(texts)
        return self

    def fit_transform(self, texts: Iterable[str], y: Any = None) -> sp.csr_matrix:
        """Forget everything, then `partial_fit_transform`."""
        self._forget()
        self._forms = None
        return self.partial_fit_transform(texts)

    def transform(self, texts: Iterable[str]) -> sp.csr_matrix:
        """Rows of texts by what was learnt so far. Never learns: terms without a column are left out."""
        check_is_fitted(self)
        self._check_parameters()
        return self._vectorize(self._documents(texts), learn=False).weights

    def tokens(self, text: str, *, first_only: bool = False) -> list[Token]:
        """The terms of a text where they stand in it, for evidence. Stop words are left out; never learns.

        With `first_only` a word is given where it first stands (in each 100,000 characters or so), and not again.
        """
        check_is_fitted(self)
        table = self._table()
        found = []
        offset = 0
        for chunk in chunks(self._documents([text])):
            _, starts, ends, kinds = table.tokens(chunk)
            surfaces = [chunk.text[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
            if first_only:
                # Read from the end, so that of equal words the first is what the dictionary keeps.
                first = sorted(dict(zip(reversed(surfaces), range(len(surfaces) - 1, -1, -1), strict=True)).values())
                surfaces, starts, kinds = [surfaces[i] for i in first], starts[first], kinds[first]
            found += [
                Token(surface, offset + start, offset + start + len(surface), term, self.vocabulary_[term])
                for surface, start, words in zip(
                    surfaces, starts.tolist(), table.terms_of(surfaces, kinds.tolist()), strict=True
                )
                if len(surface) <= self.max_length
                for term in words
            ]
            offset += len(chunk.text)
        return found

    def surface_forms(self, texts: Iterable[str]) -> SurfaceForms:
        """How each term of each text reads where it first stands, by column. What `tokens` tells, but quicker.

        Examples
        --------
        >>> from firststory.text import StreamVectorizer
        >>> v = StreamVectorizer(language="en").fit(["storm bridge"])
        >>> v.surface_forms(["Bridges in the Storm, the bridge"])[0]
        {1: 'Bridges', 0: 'Storm'}
        """
        check_is_fitted(self)
        return self._surface_forms(map(self._cut, chunks(self._documents(texts))))

    def last_surface_forms(self, lead: int | None = None) -> SurfaceForms:
        """`surface_forms` of the texts that were learnt last, within the first `lead` characters of each."""
        check_is_fitted(self)
        now = self._table()
        # Forms may have been renumbered since, even by the chunk before.
        fresh = (cut if cut.generation is now.generation else self._cut(cut.chunk) for cut in self._cuts)
        return self._surface_forms(fresh, lead)

    def _cut(self, chunk: Chunk) -> Cut:
        table = self._table()
        return Cut(chunk, *table.lookup(chunk, self.vocabulary_.find, retry=False), table.generation)

    def _surface_forms(self, cuts: Iterable[Cut], lead: int | None = None) -> SurfaceForms:
        scratch = self._take_scratch(len(self.vocabulary_))
        readings = SurfaceForms(cuts, self._table(), scratch[0], lead)
        self._scratch = scratch
        return readings

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The terms, one per column."""
        check_is_fitted(self)
        return np.array(self.vocabulary_.terms, dtype=object)

    def prune(
        self, n_terms: int | None = None, *, min_df: float | None = None, keep: NDArray[Any] | None = None
    ) -> Remap:
        """Drop terms, close the gaps, and say where every column went; learners apply the same remap.

        Kept are at most `n_terms` (default, where `min_df` is not given either: half of `max_terms`) terms, those in
        most documents of the (decayed) past and among equals those seen last; and of them those in `min_df` documents
        or more; and the columns of `keep` in any case. What is kept keeps its order. The frequencies of dropped terms
        are forgotten: should such a term come again, it is new. The pruning is recorded in `prunings_`.

        Examples
        --------
        >>> from firststory.text import StreamVectorizer
        >>> v = StreamVectorizer(language="en").fit(["storm flood", "storm fire", "fire quake"])
        >>> remap = v.prune(min_df=2)
        >>> remap.old_to_new.tolist(), v.get_feature_names_out().tolist()
        ([0, -1, 1, -1], ['storm', 'fire'])
        """
        check_is_fitted(self)
        if n_terms is None and min_df is None:
            n_terms = max(self.max_terms // 2, 1)
        frequency = self.frequencies_.now()
        stays = np.ones(frequency.size, dtype=bool)
        needed = np.zeros(frequency.size, dtype=bool)
        needed[[] if keep is None else keep] = True
        if n_terms is not None:
            # Those that must stay first: they count among the n_terms.
            order = np.lexsort((np.arange(stays.size), -self.frequencies_.seen[: stays.size], -frequency, ~needed))
            stays[order[max(n_terms, 0) :]] = False
        if min_df is not None:
            stays &= frequency >= min_df
        stays |= needed
        remap = self.vocabulary_.prune(stays)
        self.frequencies_.take(remap.kept)
        self.prunings_ = [*self.prunings_, [self.n_documents_, stays.size, remap.width]]
        self._forms = None
        return remap

    # -- what was learnt -----------------------------------------------------------------------------------

    @property
    def n_documents_(self) -> int:
        """How many documents were learnt."""
        check_is_fitted(self)
        return int(self.frequencies_.clock[0])

    @property
    def document_frequency_(self) -> NDArray[np.float64]:
        """In how many documents each term has been (decayed where there is a half-life)."""
        check_is_fitted(self)
        return self.frequencies_.now()

    @property
    def terms_(self) -> Sequence[str]:
        """The terms by their columns; none before the first text."""
        return self.vocabulary_.terms if hasattr(self, "vocabulary_") else ()

    def frequency_of(self, columns: NDArray[Any]) -> NDArray[np.float64]:
        """`document_frequency_` of some columns, without looking at the others."""
        check_is_fitted(self)
        return self.frequencies_.now(columns)

    def is_common(self, columns: NDArray[Any]) -> NDArray[np.bool_]:
        """Which columns are stop words (their stems) that only short texts have: nothing to show to people."""
        common: NDArray[np.bool_] = np.zeros(len(self.vocabulary_) + 1, dtype=bool)
        common[self.vocabulary_.find(self._table().analyser.common_stems)] = True
        common[-1] = False  # where those stand that have no column
        which: NDArray[np.bool_] = common[columns]
        return which

    @property
    def idf_(self) -> NDArray[np.float64]:
        """The weight of each term for the next document."""
        check_is_fitted(self)
        return self.frequencies_.idf()

    @property
    def is_full(self) -> bool:
        """Whether new terms find no room: time to `prune`."""
        check_is_fitted(self)
        return self.vocabulary_.is_full

    # -- inside --------------------------------------------------------------------------------------------

    _forms: FormTable | None = None
    _scratch: Scratch = NO_SCRATCH
    _cuts: tuple[Cut, ...] = ()
    """The chunks of the texts that were learnt last."""

    def _take_scratch(self, width: int) -> Scratch:
        """The scratch is put back after use; where an error or another thread came between, the next one is new."""
        scratch, self._scratch = self._scratch, NO_SCRATCH
        return scratch if scratch[0].size >= width else _longer_scratch(scratch, width)

    def _begin(self) -> None:
        self.vocabulary_ = Vocabulary(self.max_terms)
        self.frequencies_ = DocumentFrequencies(self.half_life)
        self.segmenter_ = best_segmenter() if self.segmenter == "auto" else self.segmenter
        self.language_sample_ = ""
        self.language_ = UNKNOWN
        if self.language not in ("auto", None):
            self.language_ = check_language(str(self.language), type(self).__name__)
        self.n_dropped_ = 0
        self.prunings_ = []
        self._forms = None

    @property
    def _unsettled(self) -> bool:
        return self.language == "auto" and len(self.language_sample_) < NEEDED

    def _listen(self, text: str) -> None:
        """Let one more of the first texts have its say on the language."""
        self.language_sample_ = f"{self.language_sample_} {letters(text[: 8 * NEEDED])}".strip()[: 4 * NEEDED]
        heard = identify(self.language_sample_)
        if heard != self.language_:
            self.language_ = heard
            self._forms = None

    def _stop_words(self) -> frozenset[str]:
        if self.stop_words is None:
            return frozenset()
        if self.stop_words == "language":
            return stop_words(self.language_)
        if self.stop_words == "sklearn":
            from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

            return frozenset(ENGLISH_STOP_WORDS)
        if self.token_rule == "plain":
            return frozenset(map(str.lower, self.stop_words))
        return frozenset(normal(word, self.language_) for word in self.stop_words)

    def _table(self) -> FormTable:
        if self._forms is None:
            dropped = self._stop_words()
            common = frozenset(word for word in dropped if len(word) > SHORT_WORD) if self.short else frozenset()
            rules = Rules(
                plain=self.token_rule == "plain",
                language=self.language_,
                stop_words=dropped - common,
                common=common,
                stem=self.stem,
                min_length=self.min_length,
                urls=self.urls,
                mentions=self.mentions,
            )
            self._forms = FormTable(Analyser(rules), self.segmenter_, self.max_length, self.surface_weight)
        return self._forms

    def _documents(self, texts: Iterable[str]) -> Sequence[str]:
        documents = [] if isinstance(texts, (str, bytes)) else list(texts)
        bad = None
        if not set(map(type, documents)) <= {str}:
            bad = next((i for i, text in enumerate(documents) if not isinstance(text, str)), None)
        if isinstance(texts, (str, bytes)) or bad is not None:
            raise ParameterError(
                owner=type(self).__name__,
                parameter="texts",
                allowed="an iterable of str, one per document",
                received=f"one {type(texts).__name__}" if bad is None else f"{type(documents[bad]).__name__} at {bad}",
                remedy="Pass a list of texts; decode bytes and leave out documents without text first.",
            )
        return documents

    def _vectorize(self, documents: Sequence[str], *, learn: bool) -> CountedRows:
        table = self._table()
        vocabulary, frequencies = self.vocabulary_, self.frequencies_
        (tally, touched), n_touched = self._take_scratch(len(vocabulary)), 0
        indices, data, counts = np.empty(0, dtype=np.int32), np.empty(0), np.empty(0)
        parts: list[tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]] = []
        goes_on = False
        for chunk in chunks(documents):
            starts, ends, forms = table.lookup(
                chunk, vocabulary.add if learn else vocabulary.find, retry=learn and not vocabulary.is_full
            )
            if learn:
                frequencies.grow(len(vocabulary))
                self._cuts += (Cut(chunk, starts.copy(), ends.copy(), forms, table.generation),)
            if tally.size < len(vocabulary):
                tally, touched = _longer_scratch((tally, touched), len(vocabulary))
            most = forms.size * table.most_terms + n_touched
            if most > data.size:
                indices, data, counts = np.empty(most, dtype=np.int32), np.empty(most), np.empty(most)
            indptr = np.empty(chunk.ends.size + 1, dtype=np.int64)
            n_rows, n_touched, dropped = counting.count_documents(
                forms, starts, forms.size, chunk.ends, chunk.is_open,
                table.column, table.first, table.last, table.columns, table.missing, table.marked, table.common,
                self.surface_weight, 0 if chunk.is_open or goes_on else self.short,
                _WEIGHTINGS[self.weighting], self.sublinear, _NORMS[self.norm], frequencies.keep, learn,
                frequencies.frequency, frequencies.seen, frequencies.clock,
                tally, touched, n_touched, indptr, indices, data, counts,
            )  # fmt: skip
            goes_on = chunk.is_open
            if learn:
                self.n_dropped_ += int(dropped)
            nnz = int(indptr[n_rows])
            lengths = np.diff(indptr[: n_rows + 1])
            parts.append((indices[:nnz].copy(), data[:nnz].copy(), counts[:nnz].copy(), lengths))
        self._scratch = tally, touched
        width = len(vocabulary)
        if not parts:
            return CountedRows(sp.csr_matrix((0, width)), sp.csr_matrix((0, width)))
        columns, weights, numbers, sizes = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        ends = np.concatenate([[0], np.cumsum(sizes)])
        index_type = np.int32 if ends[-1] < 2**31 else np.int64
        structure = columns.astype(index_type, copy=False), ends.astype(index_type)
        return CountedRows(*(_canonical(values, *structure, width) for values in (weights, numbers)))

    def set_state(self, state: dict[str, Any]) -> Self:
        """Become what `get_state` described. Nothing in `state` is ever executed."""
        self._forms = None
        return super().set_state(state)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; what depends on them is recomputed."""
        self._forms = None
        super().set_params(**params)
        return self

    def __getstate__(self) -> dict[str, Any]:
        passing = ("_forms", "_scratch", "_cuts")
        return {name: value for name, value in super().__getstate__().items() if name not in passing}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = True
        return tags


def _longer_scratch(scratch: Scratch, width: int) -> Scratch:
    """A document that goes on from chunk to chunk has its counts in here: they stay."""
    room = width * 5 // 4 + 1024
    return _longer(scratch[0], room), _longer(scratch[1], room)


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    return np.concatenate([array, np.zeros(size - array.size, dtype=array.dtype)])


def _canonical(values: NDArray[Any], columns: NDArray[Any], ends: NDArray[Any], width: int) -> sp.csr_matrix:
    rows = sp.csr_matrix((values, columns, ends), shape=(len(ends) - 1, width))
    rows.has_canonical_format = True
    return rows


def _stacked(blocks: Sequence[sp.csr_matrix], width: int) -> sp.csr_matrix:
    for block in blocks:
        block.resize(block.shape[0], width)
    return blocks[0] if len(blocks) == 1 else sp.vstack(blocks, format="csr")
