"""What whoever starts the service may choose."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address

DEFAULT_PORT = 8765
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True)
class ServiceOptions:
    """Limits and addresses of a service, with their defaults."""

    host: str = "127.0.0.1"
    port: int = DEFAULT_PORT
    read_only: bool = False
    allowed_hosts: tuple[str, ...] = ()
    """Names under which the service is reached beside those of this machine."""
    requests_per_second: float = 100.0
    """Of one client; 0: no limit."""
    burst: int = 500
    """Requests of one client at once."""
    max_body_bytes: int = 20_000_000
    """Of what is pushed in one request; other requests have `small_body_bytes`."""
    small_body_bytes: int = 65_536
    max_documents: int = 10_000
    """In one request."""
    max_document_bytes: int = 5_000_000
    max_inbox: int = 50_000
    """Documents that wait to be judged, from which on no more are taken."""
    max_event_streams: int = 1_000
    session_seconds: int = 12 * 3600
    poll_seconds: float = 0.25
    """Between two looks at what another process may have written; what this one writes is told at once."""
    heartbeat_seconds: float = 15.0
    certificate: str | None = None
    key: str | None = None
    proxy: str | None = None
    """The address of a proxy in front, whose word on the client's address and scheme is taken."""

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    @property
    def shown_host(self) -> str:
        """As it stands in an address."""
        return f"[{self.host}]" if ":" in self.host else self.host
