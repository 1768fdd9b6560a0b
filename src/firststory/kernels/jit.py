"""The decorator that every kernel wears.

Arrays and numbers only: a kernel that takes a jitclass or a function is recompiled in every process, a flat one
comes from the disk cache. No signature strings: they compile at import.

Machine code is kept where numba keeps it: in NUMBA_CACHE_DIR, beside the kernels, or in the user's cache. Where none
of them can be written to, it goes to a private temporary folder; where that fails too, it is not kept.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba.core import config
from numba.core.event import Event, Listener, register

from firststory.kernels import code_folder, preparing
from firststory.kernels.from_disk import read_quickly
from firststory.kernels.preparing import KernelCacheWarning

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile on first call, keep the machine code on disk, release the GIL while running."""
    return _compiled(function, counts_references=True)


def part_of_kernel(function: F) -> F:
    """The same for what kernels call often: it makes no array, hands none back, and calls only its like.

    Numba counts the references to every array that a function is handed, by instructions that lock the memory. The
    caller holds the arrays already: without the counting a function of a few lines takes a half to a third of the time.
    """
    return _compiled(function, counts_references=False)


def _compiled(function: F, *, counts_references: bool) -> F:
    compile_function = partial(numba.njit, nogil=True, _nrt=counts_references)
    try:
        compiled = compile_function(cache=True)(function)
    except RuntimeError as error:
        if "no locator available" not in str(error):
            raise
        compiled = _kept_elsewhere(function, compile_function)
    return cast(F, read_quickly(_stamped(_saved_if_possible(compiled))))


def _kept_elsewhere(function: Any, compile_function: Any) -> Any:
    """A kernel whose machine code goes to a temporary folder, or nowhere."""
    folder = _temporary_folder()
    if folder is not None:
        with suppress(RuntimeError), _numba_folder(folder):
            compiled = compile_function(cache=True)(function)
            code_folder.copy_shipped(Path(function.__code__.co_filename), Path(compiled._cache.cache_path))
            return compiled
    preparing.not_kept()
    return compile_function()(function)


@cache
def _temporary_folder() -> Path | None:
    """The folder, and the word about it; both once. Where kernels came with the package, nothing is amiss."""
    folder = code_folder.private_folder()
    if folder is not None and code_folder.are_shipped():
        return folder
    problem = "Neither the folder of the package nor that of the user can be written to: "
    said = "compiled kernels are not kept, and every start compiles them anew."
    if folder is not None:
        said = f"compiled kernels are kept in {folder}, which may not last."
    remedy = " NUMBA_CACHE_DIR names a folder for them."
    warnings.warn(problem + said + remedy, KernelCacheWarning, stacklevel=2)
    return folder


@contextmanager
def _numba_folder(folder: Path) -> Iterator[None]:
    """Numba asks for the folder when a function is decorated; other people's functions keep their own."""
    before = config.CACHE_DIR
    config.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        config.CACHE_DIR = before


def _saved_if_possible(compiled: Any) -> Any:
    """Let a full disk, or a folder that has gone since, cost time and not the run."""
    kept = getattr(compiled, "_cache", None)
    if kept is None or not hasattr(kept, "_cache_file"):
        return compiled
    save = kept.save_overload

    def save_or_say(*arguments: Any) -> None:
        try:
            save(*arguments)
        except OSError as error:
            _say_unsaved(error.strerror or str(error))

    kept.save_overload = save_or_say
    return compiled


@cache
def _say_unsaved(problem: str) -> None:
    said = f"Compiled kernels cannot be kept ({problem}): the next start compiles them again."
    warnings.warn(f"{said} NUMBA_CACHE_DIR names a folder for them.", KernelCacheWarning, stacklevel=2)


def _stamped(compiled: Any) -> Any:
    """Let machine code on disk be good only as long as no kernel changes.

    A kernel holds the code of the kernels that it calls, but numba looks at the file of the caller alone: without this,
    code of an earlier version would go on running after an upgrade.
    """
    file: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = (file._source_stamp, _all_kernels())
    return compiled


@cache
def _all_kernels() -> str:
    """A fingerprint of all files of this folder."""
    files = sorted(Path(__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


class _Compiling(Listener):  # type: ignore[misc]
    """Hands on what numba says of kernels that it compiles."""

    def on_start(self, event: Event) -> None:
        preparing.tell(True)

    def on_end(self, event: Event) -> None:
        preparing.tell(False)


register("numba:compile", _Compiling())
