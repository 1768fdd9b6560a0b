"""py3langid's model of languages, mapped from a file: of its 68 MB a text looks at few, and a stream asks rarely."""

from __future__ import annotations

import lzma
import mmap
import shutil
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from struct import unpack_from
from typing import IO, Any
from zipfile import ZIP_STORED, BadZipFile, ZipFile

import numpy as np

LOCAL_HEADER = 30
"""Bytes of what stands before each file of a ZIP archive, its name and its extra field left out."""


def load_identifier() -> tuple[Any, Callable[[], None]]:
    """py3langid's identifier with probabilities, and what lets go of the memory that answers took.

    Where its model is another than we know, it loads it itself, and nothing is let go.
    """
    from py3langid.langid import MODEL_DIR, MODEL_FILE, LanguageIdentifier

    try:
        found = _mapped(MODEL_DIR / Path(MODEL_FILE))
        identifier = LanguageIdentifier(
            found["ptc"],
            np.array(found["pc"]),
            found["classes"].tolist(),
            _quick(found["nextmove"]),
            _quick(found["out_feat"]),
            norm_probs=True,
            tk_row=_quick(found["nextmove_row"]),
        )
        if hasattr(identifier, "_rowbase"):  # a list of as many numbers as there are states, 4 MB
            identifier._rowbase = _quick(found["nextmove_row"].astype(np.int64) << 8)
        return identifier, partial(_let_go, [found["ptc"], found["nextmove"]])
    except (OSError, BadZipFile, lzma.LZMAError, LookupError, TypeError, ValueError, NotImplementedError):
        return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True), lambda: None


def _let_go(arrays: list[Any]) -> None:
    """The pages that were read are the file's again; the next look at them brings them back."""
    for array in arrays:
        pages = getattr(array, "_mmap", None)
        if pages is not None and hasattr(mmap, "MADV_DONTNEED"):
            pages.madvise(mmap.MADV_DONTNEED)


def _mapped(path: Path) -> dict[str, Any]:
    """The arrays of the model. They lie in a file without a name, which goes with them."""
    with tempfile.TemporaryFile() as file:
        with lzma.open(path) as packed:
            shutil.copyfileobj(packed, file, 1 << 20)
        file.flush()
        with ZipFile(file) as archive:
            places = {one.filename: (one.header_offset, one.compress_type) for one in archive.infolist()}
        if any(kind != ZIP_STORED for _, kind in places.values()):
            raise ValueError("the arrays are compressed")
        return {name.removesuffix(".npy"): _array(file, begin) for name, (begin, _) in places.items()}


def _array(file: IO[bytes], begin: int) -> Any:
    """One array of the archive where it lies."""
    file.seek(begin)
    name, extra = unpack_from("<HH", file.read(LOCAL_HEADER), 26)
    file.seek(begin + LOCAL_HEADER + name + extra)
    version = np.lib.format.read_magic(file)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, is_fortran, kind = read_header(file)
    return np.memmap(file, kind, "r", file.tell(), shape, "F" if is_fortran else "C")


def _quick(array: Any) -> memoryview:
    """The same numbers as Python reads them fastest, wherever they lie."""
    return memoryview(array.reshape(-1).view(np.uint8)).cast(array.dtype.char)
