"""Workers on machines of their own, as far as the network goes: one network namespace each, joined by a bridge."""

from __future__ import annotations

import os
import subprocess
import uuid

from engines.private_cluster import PrivateCluster


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def why_not():
    """Why there can be no namespaces here; None where there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    name = f"fs{uuid.uuid4().hex[:6]}"
    try:
        ip("netns", "add", name)
        ip("netns", "delete", name)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"no network namespaces here: {error}"
    return None


class NamespaceCluster(PrivateCluster):
    """A scheduler here, and each worker in a namespace that can be cut off."""

    host = "10.213.77.1"

    def __init__(self, n_workers, folder):
        self._tag = uuid.uuid4().hex[:6]
        self._bridge = f"b{self._tag}"
        self._names = []
        try:
            ip("link", "add", self._bridge, "type", "bridge")
            ip("address", "add", f"{self.host}/24", "dev", self._bridge)
            ip("link", "set", self._bridge, "up")
            super().__init__(0, folder)
            for number in range(n_workers):
                self.workers.append(self.start_worker(within=("ip", "netns", "exec", self._join(number))))
        except BaseException:
            self.close()
            raise

    def _join(self, number):
        """A namespace with a cable to the bridge."""
        name, outer, inner = f"fs{self._tag}{number}", f"o{self._tag}{number}", f"i{self._tag}{number}"
        ip("netns", "add", name)
        self._names.append(name)
        ip("link", "add", outer, "type", "veth", "peer", "name", inner)
        ip("link", "set", inner, "netns", name)
        ip("link", "set", outer, "master", self._bridge, "up")
        ip("-n", name, "address", "add", f"10.213.77.{11 + number}/24", "dev", inner)
        ip("-n", name, "link", "set", inner, "up")
        ip("-n", name, "link", "set", "lo", "up")
        return name

    def cut_off(self, number):
        """Pull the cable: nobody is told."""
        ip("link", "set", f"o{self._tag}{number}", "down")

    def close(self):
        for process in getattr(self, "_all", []):
            if process.poll() is None:
                process.kill()
            process.wait()
        for name in self._names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)
        subprocess.run(["ip", "link", "delete", self._bridge], check=False, capture_output=True)
