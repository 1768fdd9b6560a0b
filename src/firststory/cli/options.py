"""Settings as options of the command line, and what commands do with them first."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firststory.pipeline.build import RECIPES
from firststory.settings import Settings, gather, help_of

if TYPE_CHECKING:
    from firststory.store.store import Store


def _option(name: str) -> Any:
    is_number = isinstance(getattr(Settings(), name), (int, float)) and name != "step"
    shown = {"store": "URL"}.get(name, "NUMBER" if is_number else name.split("_")[-1].upper())
    return typer.Option("--" + name.replace("_", "-"), metavar=shown, help=help_of(name), show_default=False)


StoreUrl = Annotated[str | None, _option("store")]
DETECTORS = ", ".join(RECIPES)
Detector = Annotated[
    str | None,
    typer.Option(
        "--detector",
        metavar="NAME",
        help=f"How novelty is judged: {DETECTORS} (default: {Settings().detector}).",
        show_default=False,
    ),
]
Budget = Annotated[str | None, _option("budget")]
FalseAlerts = Annotated[str | None, _option("false_alerts")]
SourceFamilies = Annotated[str | None, _option("source_families")]
Step = Annotated[str | None, _option("step")]
Topics = Annotated[str | None, _option("topics")]
TopicStep = Annotated[str | None, _option("topic_step")]
Language = Annotated[str | None, _option("language")]
Segmenter = Annotated[str | None, _option("segmenter")]
Window = Annotated[str | None, _option("window")]
Format = Annotated[str | None, _option("format")]
Columns = Annotated[
    str | None, typer.Option("--map", metavar="FIELD=COLUMN,…", help=help_of("columns"), show_default=False)
]
MaxDocumentBytes = Annotated[str | None, _option("max_document_bytes")]
Vectors = Annotated[str | None, typer.Option("--vectors", metavar="DIR", help=help_of("vectors"), show_default=False)]
VectorWords = Annotated[str | None, _option("vector_words")]
Engine = Annotated[str | None, _option("engine")]
Cores = Annotated[str | None, _option("cores")]
SaveEvery = Annotated[str | None, _option("save_every")]
Sinks = Annotated[
    list[str] | None,
    typer.Option("--sink", metavar="SINK", help="Where alerts go: jsonl:PATH or webhook:URL."),
]
Exec = Annotated[
    list[str] | None,
    typer.Option("--exec", metavar="COMMAND", help="Run for each alert, its JSON on standard input."),
]
Notify = Annotated[
    list[str] | None, typer.Option("--notify", metavar="URL", help="Tell people, through an address of apprise.")
]
NotifyEvery = Annotated[str | None, _option("notify_every")]
Poll = Annotated[str | None, _option("poll")]
AllowPrivateAddresses = Annotated[bool | None, _option("allow_private_addresses")]
LogFormat = Annotated[str | None, _option("log_format")]
LogLevel = Annotated[str | None, _option("log_level")]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Settings in TOML (default: firststory.toml, if any)."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


def gathered(given: dict[str, Any], config: Path | None) -> dict[str, Any]:
    """The settings that this call, the environment or the settings file names."""
    return gather(given, environment=os.environ, config=config)


def settings_without_store(given: dict[str, Any], config: Path | None) -> Settings:
    """The checked settings of a call that writes no store; those of a store that is named stand in for the defaults."""
    from firststory.pipeline.build import check_settings
    from firststory.settings import resolve

    named = gathered(given, config)
    url = named.get("store")
    settings = resolve(named, None if url is None else _settings_in(url))
    check_settings(settings)
    return settings


def _settings_in(url: str) -> dict[str, Any] | None:
    from firststory.store.engine import holds_store
    from firststory.store.store import Store

    if not holds_store(url):
        return None
    with Store(url, read_only=True) as opened:
        return opened.settings()


def make_folder(folder: Path, owner: str, parameter: str) -> None:
    """Make sure that there is a folder to write to."""
    from firststory.errors import ParameterError

    try:
        folder.mkdir(parents=True, exist_ok=True)
        usable = os.access(folder, os.W_OK)
        problem = "not writable"
    except OSError as error:
        usable, problem = False, str(error.strerror)
    if not usable:
        raise ParameterError(
            owner=owner,
            parameter=parameter,
            allowed="a folder that can be written to",
            received=f"{folder}: {problem}",
            remedy="Name another folder.",
            message=f"The folder {folder} ({parameter}) cannot be written to: {problem}.",
        )


def check_file(path: Path, owner: str, parameter: str) -> None:
    """Before the work: whether a file can be written there."""
    from firststory.errors import ParameterError

    if path.is_dir() or not path.parent.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ParameterError(
            owner=owner,
            parameter=parameter,
            allowed="a file in a folder that can be written to",
            received=str(path),
            remedy="Make the folder, or name another file.",
            message=f"The file {path} ({parameter}) cannot be written.",
        )


def open_store(store: str | None, config: Path | None, *, writes: bool = False) -> Store:
    """The store that the option, the environment or the settings file names; it must exist. By default only to read."""
    from firststory.store.store import Store

    return Store(needed_store(gathered({"store": store}, config)), create=False, read_only=not writes)


def needed_store(named: dict[str, Any]) -> str:
    """The store that is named; an error where none is."""
    from firststory.errors import ParameterError

    if named.get("store") is None:
        raise ParameterError(
            owner="firststory",
            parameter="--store",
            allowed="given",
            received="nothing",
            remedy="Add --store news.db, or set FIRSTSTORY_STORE.",
            message="No store is named.",
        )
    return str(named["store"])
