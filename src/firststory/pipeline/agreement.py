"""The settings of a run and those of its store: a store's results come from one set of settings of the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from firststory.errors import ParameterError
from firststory.settings import Settings
from firststory.text.encoder import SentenceEncoder

if TYPE_CHECKING:  # without a store none of its libraries need be loaded
    from firststory.store.store import Store

CHANGEABLE = ("budget", "false_alerts", "source_families")
"""Settings of the alerts that a store remembers and that the next run may change."""


def kept_settings(settings: Settings, encoder: SentenceEncoder | None, found: dict[str, str]) -> dict[str, Any]:
    """What a store keeps of the settings; `found` are the versions of what results depend on too."""
    kept = settings.model() | {name: getattr(settings, name) for name in CHANGEABLE} | {"made_with": found}
    if encoder is not None:
        kept |= {"vectors": str(encoder.folder.absolute()), "encoder": encoder.fingerprint}
    return kept


def agree(settings: Settings, store: Store, encoder: SentenceEncoder | None, found: dict[str, str]) -> None:
    """A store's results come from one set of model settings; the first run that brings any decides."""
    wanted, kept = settings.model(), store.settings()
    if not kept or store.last_step() < 0:
        store.keep_settings(kept_settings(settings, encoder, found))
        return
    _agree_on_encoder(kept, encoder)
    for name, value in wanted.items():
        if kept.get(name, value) != value:
            raise ParameterError(
                owner="store",
                parameter=name,
                allowed=f"{kept[name]!r}, with which this store was begun",
                received=value,
                remedy=f"Leave --{name.replace('_', '-')} out, or begin another store.",
                message=f"This store was begun with {name} {kept[name]!r}, which cannot become {value!r}.",
            )


def _agree_on_encoder(kept: dict[str, Any], encoder: SentenceEncoder | None) -> None:
    """The folder may be another; the files must be the same."""
    found = None if encoder is None else encoder.fingerprint
    begun = kept.get("encoder")
    if found == begun:
        return
    if begun is None:
        said, remedy = "without an encoder; vectors cannot begin later", "Leave --vectors out, or begin another store."
    else:
        said = f"with the encoder of {kept.get('vectors')} (SHA-256 {begun[:12]}…)"
        remedy = "Name a folder with the same files with --vectors, or begin another store."
    raise ParameterError(
        owner="store",
        parameter="vectors",
        allowed=f"those of the encoder {begun}" if begun else "left out",
        received="no encoder" if encoder is None else f"{encoder.folder} (SHA-256 {encoder.fingerprint[:12]}…)",
        remedy=remedy,
        message=f"This store was begun {said}.",
    )
