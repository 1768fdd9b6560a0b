"""Where compiled kernels are kept when neither the package nor the home folder can be written to.

The files are loaded as code, so the folder must be ours alone: made with no rights for others, and refused when it is
a link, belongs to someone else, or lies where others could put another in its place.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path


def private_folder() -> Path | None:
    """The folder of this user for temporary machine code, made where there is none; None where that is not possible."""
    try:
        parent = Path(tempfile.gettempdir())
        folder = parent / f"firststory-kernels-{os.getuid()}"
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        return folder if _is_ours(folder) and _keeps_names(parent) else None
    except OSError:  # no temporary folder that can be written to, or the disk is full
        return None


def _is_ours(folder: Path) -> bool:
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def _keeps_names(parent: Path) -> bool:
    """Whether nobody but root and this user can rename what lies in a folder."""
    found = parent.stat()
    is_shared = found.st_mode & 0o022
    return found.st_uid in (0, os.getuid()) and (not is_shared or bool(found.st_mode & stat.S_ISVTX))


def are_shipped() -> bool:
    """Whether kernels were compiled into the package when it was installed: in an image, say."""
    return any(Path(__file__).parent.rglob("*.nbi"))


def copy_shipped(source: Path, folder: Path) -> None:
    """Take over what was compiled into the package, when it was installed, into a folder that has nothing yet."""
    with suppress(OSError):
        if any(folder.glob("*.nbi")):
            return
        # An index names its data, so it comes after them.
        for kind in ("*.nbc", "*.nbi"):
            for file in (source.parent / "__pycache__").glob(kind):
                shutil.copyfile(file, folder / file.name)
