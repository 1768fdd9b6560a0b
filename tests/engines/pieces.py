"""Functions on pieces that do harm on the way: what a worker runs when something is to go wrong.

Each harm is done once, since the file that marks it is made before.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from firststory.kernels.fused.segment import answer_request


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


def answer_or_killed(segment, own, request, folder, steps):
    """A segment that is asked for one of these steps kills its worker, the first time."""
    if request.step in steps and first_time(Path(folder) / f"killed{request.step}"):
        os.kill(os.getpid(), signal.SIGKILL)
    return answer_request(segment, own, request)


def answer_or_stopped(segment, own, request, folder, steps):
    """The same, but the worker only stops."""
    if request.step in steps and first_time(Path(folder) / f"stopped{request.step}"):
        os.kill(os.getpid(), signal.SIGSTOP)
    return answer_request(segment, own, request)


def solve_or_killed(piece, *shared, function, folder):
    """A block of a dictionary's step that kills its worker, the first time."""
    if first_time(Path(folder) / "killed"):
        os.kill(os.getpid(), signal.SIGKILL)
    return function(piece, *shared)
