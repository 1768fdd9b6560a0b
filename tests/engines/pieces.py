"""Functions on pieces that do harm on the way: what a worker runs when something is to go wrong.

Each harm is done once, since the file that marks it is made before.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


def squared(piece, plus):
    return piece * piece + plus


def first_time(mark):
    """Whether nobody has been here before."""
    try:
        Path(mark).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def squared_or_killed(piece, plus, folder, victims):
    """Pieces that are victims kill the worker that takes them up, the first time."""
    if piece in victims and first_time(Path(folder) / f"killed{piece}"):
        os.kill(os.getpid(), signal.SIGKILL)
    return squared(piece, plus)


def squared_or_stopped(piece, plus, folder, victims):
    """The same, but the worker only stops: it is there and does not answer."""
    if piece in victims and first_time(Path(folder) / f"stopped{piece}"):
        os.kill(os.getpid(), signal.SIGSTOP)
    return squared(piece, plus)


def squared_slowly(piece, plus, folder, seconds):
    (Path(folder) / f"begun{piece}").touch()
    time.sleep(seconds)
    return squared(piece, plus)


def refuse(piece):
    raise ValueError(f"piece {piece}")
