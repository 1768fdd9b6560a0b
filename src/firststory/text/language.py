"""Which language a stream is written in, and what is known of it: its stemmer, its stop words, its elisions."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cache
from typing import Any

import regex

from firststory.errors import ParameterError

STEMMERS = {
    "ar": "arabic", "ca": "catalan", "cs": "czech", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "eo": "esperanto", "es": "spanish", "et": "estonian", "eu": "basque", "fa": "persian", "fi": "finnish",
    "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian", "hy": "armenian", "id": "indonesian",
    "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch", "no": "norwegian", "pl": "polish",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "st": "sesotho", "sv": "swedish",
    "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""ISO 639-1 code -> name of the Snowball algorithm."""

_BY_NAME = {name: code for code, name in STEMMERS.items()}

SAME = {"nb": "no", "nn": "no", "iw": "he", "in": "id", "fil": "tl"}
"""Codes that mean a language we know by another code."""

UNKNOWN = "und"
"""ISO 639's code where the language cannot be told: words are kept whole, none is a stop word."""

ELISIONS = {
    "fr": regex.compile(r"^(?:[cdjlmnst]|qu|jusqu|lorsqu|puisqu|quoiqu)'(?=\w)"),
    "it": regex.compile(r"^(?:[cdlmnstv]|un|dell|all|dall|nell|sull|coll|quell|quest|bell|sant|dev|com)'(?=\w)"),
    "ca": regex.compile(r"^[dlmnst]'(?=\w)"),
}
"""Articles and pronouns written onto the next word: l'école, dell'arte, l'home."""

CARRIES_NEWS = frozenset(
    [
        "bill",
        "billion",
        "computer",
        "cry",
        "fire",
        "hundred",
        "microsoft",
        "million",
        "netscape",
        "research",
        "thousand",
        "trillion",
        "un",
    ]
)
"""In stopwordsiso's English list, and yet what headlines are made of."""

SHORT_ENGLISH = frozenset(
    "a am an as at be by co de do eg go he i ie if in is it me my no of on or re so to un up us we".split()  # noqa: SIM905
)
"""The words of at most two letters in scikit-learn's list; to load it takes a tenth of a second."""

NEAR = {
    "an": "es", "ary": "ar", "arz": "ar", "bcl": "tl", "bs": "hr", "ext": "es", "gcf": "fr", "lij": "it", "pcm": "en",
    "vec": "it", "wuu": "zh", "yue": "zh",
}  # fmt: skip
"""Languages that py3langid knows and that are read best by the rules of another."""

_NOT_WORDS = regex.compile(r"https?://\S+|www\.\S+|[@#]\w+|[^\p{L}\p{M}'’]+", regex.IGNORECASE)


def supported() -> tuple[str, ...]:
    """The codes that `language=` takes besides "auto" and None: PyStemmer's and stopwordsiso's, together."""
    import Stemmer
    import stopwordsiso

    stemmers = {code for code, name in STEMMERS.items() if name in Stemmer.algorithms()}
    return tuple(sorted(stemmers | set(stopwordsiso.langs())))


def check_language(code: str, owner: str) -> str:
    """The code as we know it, or an error that lists what there is."""
    known = code.lower().replace("_", "-").partition("-")[0]  # en-GB is en
    known = _BY_NAME.get(known, SAME.get(known, known))
    if known not in (*supported(), UNKNOWN):
        raise ParameterError(
            owner=owner,
            parameter="language",
            allowed=f"auto or one of {', '.join(sorted((*supported(), UNKNOWN)))}",
            received=code,
            remedy=f"With {UNKNOWN} (undetermined) no word is stemmed and none is a stop word.",
        )
    return known


@cache
def _identifier() -> tuple[Any, Callable[[], None]]:
    from firststory.text.language_model import load_identifier

    return load_identifier()


def letters(text: str) -> str:
    """The part of a text that tells its language: words, without numbers, addresses and hashtags."""
    return str(_NOT_WORDS.sub(" ", text)).strip()


def rank_languages(text: str) -> list[tuple[str, float]]:
    """The languages that py3langid knows, each with its probability, the likeliest first."""
    found = ((str(code), float(probability)) for code, probability in _identifier()[0].rank(text))
    return [(NEAR.get(code, SAME.get(code, code)), probability) for code, probability in found]


def let_go_of_model() -> None:
    """Give the memory back that `rank_languages` took; it works as before."""
    _identifier()[1]()


def identify(sample: str) -> str:
    """The language of a sample by py3langid; "und" where there is nothing to go by.

    Examples
    --------
    >>> identify("Der Hafen ist nach dem Sturm wieder geöffnet worden")
    'de'
    >>> identify("1, 2, 3")
    'und'
    """
    text = letters(sample)
    return rank_languages(text)[0][0] if text else UNKNOWN


@cache
def stop_words(code: str) -> frozenset[str]:
    """stopwordsiso's list, without what carries news.

    Numbers are never stop words. The English list holds the internet code of every country (uk, un, us, eu ...):
    of its two-letter words those stay that scikit-learn's shorter list has too. `CARRIES_NEWS` is taken out.
    """
    import stopwordsiso

    if not stopwordsiso.has_lang(code):
        return frozenset()
    words = {unicodedata.normalize("NFKC", word.replace("’", "'")) for word in stopwordsiso.stopwords(code)}
    if code == "en":
        words = {word for word in words if len(word) > 2 or word in SHORT_ENGLISH}
        words = (words | {"a.m.", "p.m.", "e.g.", "i.e."}) - CARRIES_NEWS
    return frozenset(word for word in words if not any(letter.isdigit() for letter in word))


def stemmer(code: str) -> Any | None:
    """A Snowball stemmer of the language, or None where there is none. Not shared: it is not safe across threads."""
    import Stemmer

    name = STEMMERS.get(code)
    return Stemmer.Stemmer(name, 0) if name in Stemmer.algorithms() else None
