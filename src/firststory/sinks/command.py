"""A command for each alert, with the alert as JSON on its standard input. No shell reads it."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Sequence

from firststory.errors import ParameterError
from firststory.records import Alert
from firststory.sinks.sink import NotDelivered, Shape

SECONDS = 60.0


class Command:
    """`exec:COMMAND`; an exit status other than 0 means that it is tried again."""

    every = 0.0

    def __init__(self, command: str, shape: Shape) -> None:
        try:
            self._arguments = shlex.split(command)
        except ValueError:
            self._arguments = []
        if not self._arguments or shutil.which(self._arguments[0]) is None:
            raise ParameterError(
                owner="sinks",
                parameter="exec",
                allowed="a command that can be run",
                received=command,
                remedy="Check the name and that it may be executed; pipes and the like need: sh -c '...'.",
            )
        self.name, self._shape = f"exec:{command}", shape

    def deliver(self, alerts: Sequence[Alert]) -> None:
        for alert in alerts:
            data = json.dumps(self._shape(alert), default=str).encode() + b"\n"
            try:
                done = subprocess.run(
                    self._arguments,
                    input=data,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.PIPE,
                    timeout=SECONDS,
                    start_new_session=True,  # Ctrl-C is meant for the stream, which ends in its own time
                )
            except subprocess.TimeoutExpired as error:
                raise NotDelivered(f"the command took longer than {SECONDS:.0f} s") from error
            except OSError as error:
                raise NotDelivered(f"the command cannot be run ({error.strerror})") from error
            if done.returncode:
                said = done.stderr.decode("utf-8", "replace").strip()[-150:]
                raise NotDelivered(f"the command ended with status {done.returncode}" + (f" ({said})" if said else ""))
