"""Texts in, sparse rows out, over a stream: the vocabulary grows to the right and weights know the past only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import TransformerMixin

from firststory.arrays import Ints
from firststory.engines.engine import Engine
from firststory.estimator import StreamEstimator
from firststory.parameters import Interval, StrOptions
from firststory.text import block_counting
from firststory.text.block_counting import LateCuts
from firststory.text.counting import RowRules, Scratch, count_rows
from firststory.text.documents import checked_documents
from firststory.text.language import UNKNOWN, check_language
from firststory.text.learnt_terms import LearntTerms
from firststory.text.pruning import kept_terms
from firststory.text.read_tokens import ReadTokens
from firststory.text.reader import ReadingRules, TextReader
from firststory.text.records import CountedRows, Token
from firststory.text.segmentation import best_segmenter
from firststory.text.stop_word_index import codes
from firststory.text.stream_languages import StreamLanguages
from firststory.text.surfaces import Cut, SurfaceForms
from firststory.text.vocabulary import Remap, Vocabulary
from firststory.text.weighting import DocumentFrequencies


class StreamVectorizer(TransformerMixin, LearntTerms, StreamEstimator):
    r"""Turn the texts of a stream into sparse rows whose width grows as new terms appear.

    Each document is weighted by the document frequencies of the documents *before* it and then counted itself,
    one after the other whatever the size of the batch: cutting a stream into other batches gives the same rows.

    Parameters
    ----------
    language : str or None, default="auto"
        ISO 639-1 code, for stop words and stemming; "auto" finds the language of each document (see
        `last_languages`); None keeps words whole and drops none.
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
        The language in use; with "auto" that of most of the recent documents ("und" where it cannot be told).
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
    fixed_language_: str | None
    languages_: StreamLanguages
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
    _state_version: ClassVar[int] = 2
    _state_parts: ClassVar[dict[str, Any]] = {
        "vocabulary_": Vocabulary,
        "frequencies_": DocumentFrequencies,
        "languages_": StreamLanguages,
    }

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
        return self._count(checked_documents(texts, self), learn=True)

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
        self._cached_reader = None
        return self.partial_fit_transform(texts)

    def transform(self, texts: Iterable[str]) -> sp.csr_matrix:
        """Rows of texts by what was learnt so far. Never learns: terms without a column are left out."""
        self._check_fitted()
        self._check_parameters()
        return self._count(checked_documents(texts, self), learn=False).weights

    def tokens(self, text: str, *, first_only: bool = False, language: str | None = None) -> list[Token]:
        """The terms of a text where they stand in it, for evidence. Never learns.

        Stop words of the text's language are left out, and those of the stream's other languages. With `first_only` a
        word is given where it first stands (in each 100,000 characters or so), and not again. `language` is that of a
        text that was learnt (`last_languages`); otherwise it is found.
        """
        self._check_fitted()
        checked_documents([text], self)
        return self._reader().tokens(text, first_only=first_only, language=language)

    def surface_forms(self, texts: Iterable[str]) -> SurfaceForms:
        """How each term of each text reads where it first stands, by column. What `tokens` tells, but quicker.

        Examples
        --------
        >>> from firststory.text import StreamVectorizer
        >>> v = StreamVectorizer(language="en").fit(["storm bridge"])
        >>> v.surface_forms(["Bridges in the Storm, the bridge"])[0]
        {1: 'Bridges', 0: 'Storm'}
        """
        self._check_fitted()
        return self._surface_forms(self._reader().read(checked_documents(texts, self), learn=False))

    def last_surface_forms(self, lead: int | Ints | None = None) -> SurfaceForms:
        """`surface_forms` of the texts that were learnt last, within the first `lead` characters of each.

        `lead` is one number, or an array with a number for each text.
        """
        self._check_fitted()
        return self._surface_forms(self._reader().renewed(self._cuts), lead)

    def last_tokens(self) -> ReadTokens:
        """`tokens` of the texts that were learnt last, each form once; they are not read again.

        Examples
        --------
        >>> from firststory.text import StreamVectorizer
        >>> v = StreamVectorizer(language="en").fit(["a storm and a storm"])
        >>> v.last_tokens().of(0)
        [Token(surface='storm', start=2, end=7, term='storm', column=0)]
        """
        self._check_fitted()
        reader = self._reader()
        return ReadTokens(reader.renewed(self._cuts), reader.table, self.vocabulary_.terms, reader.hidden_words())

    def _surface_forms(self, cuts: Iterable[Cut], lead: int | Ints | None = None) -> SurfaceForms:
        tally, touched = self._scratch.take(len(self.vocabulary_))
        readings = self._reader().surface_forms(cuts, tally, lead)
        self._scratch.put_back(tally, touched)
        return readings

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
        self._check_fitted()
        if n_terms is None and min_df is None:
            n_terms = max(self.max_terms // 2, 1)
        stays = kept_terms(self.frequencies_, n_terms, min_df, keep)
        remap = self.vocabulary_.prune(stays)
        self.frequencies_.take(remap.kept)
        self.prunings_ = [*self.prunings_, [self.n_documents_, stays.size, remap.width]]
        self._cached_reader = None
        return remap

    def is_common(self, columns: NDArray[Any]) -> NDArray[np.bool_]:
        """Which columns are stop words of the stream's languages (or stems of them): nothing to show to people.

        Short texts have those of their own language, and documents whose language was mistaken those of another.
        """
        common: NDArray[np.bool_] = np.zeros(len(self.vocabulary_) + 1, dtype=bool)
        common[list(self._reader().hidden_columns())] = True
        which: NDArray[np.bool_] = common[columns]
        return which

    # -- languages -----------------------------------------------------------------------------------------

    @property
    def language_(self) -> str:
        """The language in use, or of most of the recent documents."""
        self._check_fitted()
        return self.languages_.majority if self.fixed_language_ is None else self.fixed_language_

    @property
    def last_languages(self) -> list[str]:
        """The language of each document that was learnt last."""
        goes_on = [False, *(cut.chunk.is_open for cut in self._cuts)]
        first = [cut.languages.tolist() for cut, before in zip(self._cuts, goes_on, strict=False) if not before]
        return [codes()[number] for numbers in first for number in numbers]

    # -- inside --------------------------------------------------------------------------------------------

    _cached_reader: TextReader | None = None
    _cached_scratch: Scratch | None = None
    _cuts: Sequence[Cut] = []
    """The chunks of the texts that were learnt last."""

    @property
    def _scratch(self) -> Scratch:
        if self._cached_scratch is None:
            self._cached_scratch = Scratch()
        return self._cached_scratch

    def _begin(self) -> None:
        self.vocabulary_ = Vocabulary(self.max_terms)
        self.frequencies_ = DocumentFrequencies(self.half_life)
        self.segmenter_ = best_segmenter() if self.segmenter == "auto" else self.segmenter
        self.languages_ = StreamLanguages()
        self.fixed_language_ = None if self.language == "auto" else UNKNOWN
        if self.language not in ("auto", None):
            self.fixed_language_ = check_language(str(self.language), type(self).__name__)
        self.n_dropped_ = 0
        self.prunings_ = []
        self._cached_reader = None

    def _reader(self) -> TextReader:
        if self._cached_reader is None:
            given = {name: getattr(self, name) for name in ReadingRules._fields}
            rules = ReadingRules(**given | {"language": self.fixed_language_, "segmenter": self.segmenter_})
            self._cached_reader = TextReader(rules, self.vocabulary_, self.languages_)
        return self._cached_reader

    def _count(self, documents: Sequence[str], *, learn: bool) -> CountedRows:
        """The rows of the documents, which are part of the past from then on where they are learnt."""
        rules = RowRules(self.weighting, self.sublinear, self.norm, self.surface_weight, self.short)
        if learn and self._engine is not None and len(documents) > block_counting.BLOCK_TEXTS and self._has_blocks:
            return self._count_in_blocks(documents, self._engine)
        reader = self._reader()
        cuts = reader.read(documents, learn=learn)
        if learn:
            record: list[Cut] = []
            self._cuts, cuts = record, _recorded(cuts, record)
        rows, dropped = count_rows(
            cuts, reader.table, self.vocabulary_, self.frequencies_, rules, self._scratch, learn=learn
        )
        self.n_dropped_ += dropped if learn else 0
        return rows

    _engine: Engine | None = None

    def use_engine(self, engine: Engine | None) -> None:
        """Let an engine read batches of more than a thousand texts in blocks; None brings it back.

        Rows, columns and all that is learnt are the same bits. It is used where a row depends on its text alone: one
        language, counts (or binary) without norm or logarithm, no half-life. The engine is not part of the state.
        """
        self._engine = engine

    @property
    def _has_blocks(self) -> bool:
        """Whether a row depends on nothing but its text."""
        depends = self.weighting == "tfidf" or self.norm is not None or self.sublinear or self.half_life is not None
        return self.fixed_language_ is not None and not depends

    def _count_in_blocks(self, documents: Sequence[str], engine: Engine) -> CountedRows:
        self._engine = None  # a block is counted here by itself
        try:
            rows = block_counting.count_in_blocks(
                documents, self.get_params(deep=False), engine, self.vocabulary_, self.frequencies_,
                lambda texts: self._count(texts, learn=True),
            )  # fmt: skip
        finally:
            self._engine = engine
        # Forms that were read elsewhere have columns now; what was learnt last is read when somebody asks.
        self._cached_reader = None
        self._cuts = LateCuts(lambda: self._reader().read(documents, learn=False))
        return rows

    def set_state(self, state: dict[str, Any]) -> Self:
        """Become what `get_state` described. Nothing in `state` is ever executed."""
        self._cached_reader = None
        return super().set_state(state)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; what depends on them is recomputed."""
        self._cached_reader = None
        super().set_params(**params)
        return self

    def __getstate__(self) -> dict[str, Any]:
        passing = ("_cached_reader", "_cached_scratch", "_cuts", "_engine")
        return {name: value for name, value in super().__getstate__().items() if name not in passing}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.requires_fit = True
        return tags


def _recorded(cuts: Iterator[Cut], record: list[Cut]) -> Iterator[Cut]:
    """The cuts, each also written to `record`."""
    for cut in cuts:
        record.append(cut)
        yield cut
