"""Every setting once: name, type, default, help, and how to read it from text.

The command line, the environment (`FIRSTSTORY_BUDGET=...`) and a TOML file (`budget = "20/day"`) read this one table;
the first of them that names a setting wins.

Examples
--------
>>> load({"detector": "neighbour"}, environment={"FIRSTSTORY_WINDOW": "1000"}).window
1000
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeVar

from firststory.errors import ParameterError, not_one_of
from firststory.logs import FORMATS, LEVELS
from firststory.setting_values import (
    COLUMNS,
    COLUMNS_EXAMPLE,
    CORES,
    FAMILIES,
    FAMILIES_EXAMPLE,
    LENGTH_OF_TIME,
    LENGTH_OR_NONE,
    POSITIVE_NUMBER,
    TRUTH,
    WORDS,
    Rule,
    count_from,
    families_from,
    one_of,
    seconds_from,
    seconds_or_none,
    step_from,
    truth_from,
    whole_number,
    words_from,
)

T = TypeVar("T")

PREFIX = "FIRSTSTORY_"
CONFIG = "firststory.toml"


def _setting(
    default: T | type[T],
    help_: str,
    parse: Callable[[str], Any] = str,
    *,
    model: bool = False,
    rule: Rule | None = None,
) -> T:
    """A field of `Settings`; a type in place of the default makes an empty one.

    `model` marks what a store's results depend on: it cannot change between two runs.
    """
    metadata = {"help": help_, "parse": parse, "model": model, "rule": rule}
    made: Any
    if isinstance(default, type):
        made = field(default_factory=default, metadata=metadata)
    else:
        made = field(default=default, metadata=metadata)
    value: T = made
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of a stream with their values."""

    store: str | None = _setting(None, "Where results are kept: news.db, or postgresql://user@host/database.")
    detector: str = _setting("fused", "How novelty is judged: the name of a detector.", model=True)
    budget: str = _setting(
        "20/day",
        "A ceiling on the alerts that are pushed, never a quota (expect about half): 20/day, 0.5% of documents, or a "
        "fixed score.",
    )
    false_alerts: float = _setting(1.0, "Alerts per day that chance alone may bring.", float, rule=POSITIVE_NUMBER)
    source_families: Mapping[str, str] = _setting(
        dict, f"Sources that count as one: {FAMILIES_EXAMPLE}.", families_from, rule=FAMILIES
    )
    step: int | str = _setting(
        100, "Documents judged together: a number, or a time as 15min, 6h, 1d.", step_from, model=True
    )
    topics: str = _setting("storylines", "Topics beside the stories: storylines, nmf or none.", model=True)
    topic_step: int = _setting(
        200, "Documents that topics are learnt from at a time.", count_from, model=True, rule=whole_number(1)
    )
    language: str = _setting("auto", "Language of the text: auto, or a code as en, de, fr.", model=True)
    segmenter: str = _setting(
        "bigrams",
        "Words of Chinese, Japanese and Thai: bigrams (pairs of characters), or icu (dictionaries, needs the extra).",
        model=True,
    )
    window: int = _setting(
        50_000, "How many earlier documents a new one is compared with.", count_from, model=True, rule=whole_number(1)
    )
    max_terms: int = _setting(
        500_000, "The most terms that the vocabulary holds.", count_from, model=True, rule=whole_number(1)
    )
    seed: int = _setting(0, "Seed of everything random.", count_from, model=True, rule=whole_number(0))
    vectors: str | None = _setting(
        None, "A folder with a sentence encoder (model.onnx, tokenizer.json), to compare texts by its vectors too."
    )
    vector_words: int = _setting(
        30,
        "Texts of up to this many words are compared by their own vectors too.",
        count_from,
        model=True,
        rule=whole_number(0),
    )
    format: str = _setting("auto", "Format of files: auto, jsonl, csv, tsv, parquet or text (one document per line).")
    columns: Mapping[str, str] = _setting(
        dict, f"Fields that have other names in the input: {COLUMNS_EXAMPLE}.", families_from, rule=COLUMNS
    )
    max_document_bytes: int = _setting(
        5_000_000,
        "A longer line is quarantined unread, so that it cannot fill memory.",
        count_from,
        rule=whole_number(1),
    )
    save_every: int = _setting(
        200,
        "Steps between two copies of the model in the store, more of them where the model is large; a resumed run "
        "replays the rest.",
        count_from,
        rule=whole_number(1),
    )

    engine: str = _setting(
        "none",
        "Who computes the blocks of a step: none, serial, threads, threads:2, dask://host:8786 or dask://local.",
    )

    cores: int | str = _setting(
        "auto",
        "Cores of a run: 1 takes one step after another, 2 judges one while others are read, placed and written (of "
        "files by a second process), to the same results; auto is 2 where there are two.",
        step_from,
        rule=CORES,
    )

    poll: float = _setting(
        300.0, "Seconds between two looks at a feed, or a time as 5min.", seconds_from, rule=LENGTH_OF_TIME
    )
    allow_private_addresses: bool = _setting(
        False, "Let feeds and webhooks reach addresses of this machine and its network.", truth_from, rule=TRUTH
    )

    sinks: tuple[str, ...] = _setting(
        (), "Where alerts go: jsonl:PATH, webhook:URL, exec:COMMAND or notify:URL.", lambda text: [text], rule=WORDS
    )
    sink_kinds: tuple[str, ...] = _setting(
        ("confirmed", "turn"), "The kinds of alerts that sinks get.", words_from, rule=WORDS
    )
    sink_attempts: int = _setting(
        30, "Failures after which an alert becomes a dead letter.", count_from, rule=whole_number(1)
    )
    webhook_secret: str | None = _setting(None, "The secret that signs what webhooks get.")
    notify_every: float = _setting(
        0.0, "Gather notifications for this long, as 1h; 0 for one each.", seconds_or_none, rule=LENGTH_OR_NONE
    )

    log_format: str | None = _setting(
        None, "Log events on standard error: json or text (default: words for people).", rule=one_of(FORMATS)
    )
    log_level: str = _setting(
        "info", "The least level that is logged: debug, info, warning or error.", rule=one_of(LEVELS)
    )

    def model(self) -> dict[str, Any]:
        """The settings that the results in a store depend on."""
        return {item.name: getattr(self, item.name) for item in fields(self) if item.metadata["model"]}


def help_of(name: str) -> str:
    """The help text of a setting, with its default. No square brackets: Rich takes those for mark-up."""
    item = _field(name)
    help_text: str = item.metadata["help"]
    return help_text if item.default in (None, MISSING) else f"{help_text} (default: {item.default})"


def load(
    given: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    config: Path | str | None = None,
    kept: Mapping[str, Any] | None = None,
) -> Settings:
    """Settings from what was given (None = not given), then the environment, then the TOML file, then the defaults.

    `kept` are the settings of a store that exists: they stand in for the defaults.
    """
    return resolve(gather(given, environment=environment, config=config), kept)


def gather(
    given: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    config: Path | str | None = None,
) -> dict[str, Any]:
    """The settings that are named anywhere: in what was given, else in the environment, else in the TOML file."""
    environment = environment or {}
    named: dict[str, Any] = {}
    for name, value in _from_file(config, environment).items():
        named[name] = _parsed(name, value, "the settings file")
    for item in fields(Settings):
        if PREFIX + item.name.upper() in environment:
            named[item.name] = _parsed(item.name, environment[PREFIX + item.name.upper()], PREFIX + item.name.upper())
    for name, value in (given or {}).items():
        if value is not None:
            named[name] = _parsed(name, value, name)
    return named


def resolve(named: Mapping[str, Any], kept: Mapping[str, Any] | None = None) -> Settings:
    """All settings: those that are named, then those that a store keeps, then the defaults.

    Values are checked only now: a mistake in the file may have been corrected by the environment or the caller.
    """
    known = {item.name for item in fields(Settings)}
    values = {name: value for name, value in (kept or {}).items() if name in known} | dict(named)
    return Settings(**{name: _checked(name, value) for name, value in values.items()})


def _field(name: str) -> Any:
    known = {item.name: item for item in fields(Settings)}
    if name not in known:
        raise not_one_of("settings", "the name of a setting", known, name, "Correct or remove it.")
    return known[name]


def _parsed(name: str, value: Any, where: str) -> Any:
    item = _field(name)
    if isinstance(value, PathLike):
        value = fspath(value)
    if not isinstance(value, str):
        return value
    try:
        return item.metadata["parse"](value)
    except (ValueError, KeyError) as error:
        raise ParameterError(
            owner="settings",
            parameter=where,
            allowed="as in: " + item.metadata["help"],
            received=value,
            remedy=help_of(name),
            message=f"{name} cannot be {value!r}" + ("." if where == name else f" (set in {where})."),
        ) from error


def _checked(name: str, value: Any) -> Any:
    """The value as the stream wants it."""
    item = _field(name)
    rule: Rule | None = item.metadata["rule"]
    if rule is None or (value is None and item.default is None):
        return value
    try:
        return rule.check(value)
    except ValueError as error:
        default = f" of {item.default:,}" if isinstance(item.default, (int, float)) else ""
        raise ParameterError(
            owner="settings",
            parameter=name,
            allowed=rule.allowed,
            received=value,
            remedy=f"Leave it out for the default{default}.",
        ) from error


def _from_file(config: Path | str | None, environment: Mapping[str, str]) -> dict[str, Any]:
    """The TOML file that was named, or firststory.toml in this folder if there is one."""
    named = config or environment.get(PREFIX + "CONFIG")
    path = Path(named or CONFIG)
    if not named and not path.is_file():
        return {}
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ParameterError(
            owner="settings",
            parameter="the settings file",
            allowed="a readable TOML file",
            received=f"{path}: {error}",
            remedy="Correct it, or name another with --config.",
            message=f"The settings file {path} cannot be read: {getattr(error, 'strerror', None) or error}.",
        ) from error
