"""Where corpora lie on this machine, and whether they are what they should be."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from firststory.errors import DataError

SHA256 = {
    "tdt2_30_sorted.npz": "f491e5d8731fb6bb7aae547ed98c67598a91d7f20a83ded705ea5aecab06dce4",
    "tdt2_30_sorted_meta.npz": "a047ee14214fd5fa08ba179bd96851e8c677366701b68c1c220ac46479cd3639",
    "uci_nips_bow.npz": "3d6b96bd9a2628c77fe083d4fd4eaded50d8f8ba3f8476bd00484e8bad5447b0",
    "uci_nips_bow_vocab.txt": "ff325a74f68ef1cc1767af1acc9d65e6770b6cc29842bdf7737a59bf0e1e9edc",
    "crisislex_sample.jsonl.gz": "f87c7dc905a91f331fb62d0b2f6650bc9d1f6fe61dab306518500e2219dda5ce",
    "editor/alerts.csv": "1dd176f3f46638c768a96a2d357c950bf06921e40d2d70513234bb40700e4be5",
    "editor/events.csv": "bfb100187b74124747940522162169e0b8dbbb9f1354f4884997972d6029b069",
    "gitbugs_hadoop.jsonl.gz": "ad52b8ff506b950b6c2115c637d35e85726bec4a451bb2cacaf97430b951c44a",
    "healthtweets.jsonl.gz": "22e5eda8fa60c2d1a6055c658fda07a518cbc71f10940219c1abbf40306a35b3",
    "localnews_incidents.jsonl.gz": "aa12e2de7f4677eadc8cb40032ec92e35ae0e84ad763655f792275d5025e5b60",
    "mstream_tweets.jsonl.gz": "bf2544a38f01f5f2827006d1dfb8bdb4373c58f44242daa07903225d4f5fa432",
    "newsarticles2017.jsonl.gz": "2c705661d18d34c0455a9f71abbe93ae2b38b4bb1d41ecffe11659b0579cee99",
    "newsgroups20_19997_dated.jsonl.gz": "0babde712abd7cc6ce3ebcbd77092b91923c119a9ce75d22a050fb3d63b02572",
    "openoffice_dups.jsonl.gz": "9369a8f35e69aba7585b7b0b0a31e02de55acb6a3310e0ee4b2d333df02a4f8f",
    "reuters21578.jsonl.gz": "f6be086bd75e1f6022722ad64aa7947621dc7be7416a93613304d17de20f9b9a",
    "thisisallabout_articles.jsonl.gz": "27d1eb96e90d66dad8a7a91680529f265e615f92ce27d095773b83006644db9a",
    "thisisallabout_headlines.jsonl.gz": "7dc0c78b5fdbf61e609556f41facd1d952e300922ffbf4f1c1294ab2dd690bd8",
    "timeline17_8topics.jsonl.gz": "909cf176449bb983377f3393ccd7e3d2d870b17d3630775a1bb0cdc043380dba",
    "wcep_stories.jsonl.gz": "abbf24485c83ebbe52efd4a1d19334e28abd46fa4877ca2d4b23ac7bce32906b",
}


def cache_home() -> Path:
    """firststory's own cache folder: $XDG_CACHE_HOME/firststory, by default ~/.cache/firststory."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "firststory"


def folders(data_home: str | os.PathLike[str] | None) -> list[Path]:
    """Where to look, in this order."""
    if data_home is not None:
        return [Path(data_home)]
    named = os.environ.get("FIRSTSTORY_DATA")
    return ([Path(named)] if named else []) + [cache_home()]


def find(name: str, data_home: str | os.PathLike[str] | None = None) -> Path:
    """The path of a corpus file with the right checksum, or a DataError that says where to put it."""
    places = folders(data_home)
    for folder in places:
        path = folder / name
        if path.is_file():
            verify(path, SHA256[name])
            return path
    raise DataError(
        owner="firststory.datasets",
        parameter=f"the corpus file {name}",
        allowed="present in " + " or ".join(map(str, places)),
        received="no such file",
        remedy="Put it there, pass data_home=, or set FIRSTSTORY_DATA to the folder that has it.",
        message=f"The corpus file {name} was not found in {' or '.join(map(str, places))}.",
    )


def verify(path: Path, sha256: str) -> None:
    """Raise a DataError unless the file has this checksum."""
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != sha256:
        raise DataError(
            owner="firststory.datasets",
            parameter=f"the sha256 of {path.name}",
            allowed=sha256,
            received=found,
            remedy="Remove it and get it again.",
            message=f"{path.name} is damaged or another version: its sha256 is {found}, not {sha256}.",
        )
