"""Fetching over HTTP with limits: addresses that may be reached, redirects, bytes and seconds.

An address typed into a feed or a webhook, or found behind a redirect or a DNS answer, must not make this machine talk
to itself or to its neighbours. Every connection goes through `_Backend`, which looks names up itself, refuses
addresses that are not public, and connects to the very address that it has checked.
"""

from __future__ import annotations

import ipaddress
import math
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from firststory.errors import MissingExtraError

MAX_REDIRECTS = 5
READ_SECONDS = 10.0
"""Between two bytes; `deadline` bounds all of them."""
LONGEST_RETRY = 86_400.0
"""Seconds that a server may ask us to stay away."""
NAT64 = ipaddress.ip_network("64:ff9b::/96")


class Refused(Exception):
    """The fetch was given up for good: trying again would not help."""


class Failed(Exception):
    """The fetch did not work this time."""


class Response(NamedTuple):
    """The answer, read completely."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str


def is_public(address: str) -> bool:
    """Whether an IP address is one of the public internet, also where it is wrapped in another.

    Examples
    --------
    >>> [is_public(a) for a in ("93.184.216.34", "127.0.0.1", "::ffff:10.0.0.1", "169.254.169.254", "fe80::1%eth0")]
    [True, False, False, False, False]
    """
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        inside = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo[1] if parsed.teredo else None)
        if inside is None and parsed in NAT64:
            inside = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
        if inside is not None:
            return is_public(str(inside))
    return parsed.is_global and not parsed.is_multicast


class Fetcher:
    """An HTTP client for addresses that strangers may have chosen.

    Parameters
    ----------
    allow_private : bool
        Also reach loopback, private and link-local addresses.
    deadline : float
        Seconds for a whole request with its redirects: a server that sends a byte now and then is given up.
    max_bytes : int
        Of the answer, after decompression.
    """

    def __init__(
        self, *, allow_private: bool = False, deadline: float = 60.0, max_bytes: int = 10_000_000, extra: str = "feeds"
    ) -> None:
        try:
            import httpcore
            import httpx
        except ImportError as error:
            raise MissingExtraError("firststory", "httpx", extra) from error
        self._httpx, self._httpcore = httpx, httpcore
        self._deadline, self._max_bytes = deadline, max_bytes
        self._backend = _Backend(httpcore, allow_private)
        pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(), max_connections=4, network_backend=self._backend
        )
        transport = _transport(httpx, httpcore, pool)
        # A proxy of the environment would connect for us, unchecked.
        self._client = httpx.Client(transport=transport, timeout=READ_SECONDS, follow_redirects=False, trust_env=False)

    def get(self, url: str, headers: Mapping[str, str] | None = None) -> Response:
        """The answer after redirects."""
        return self._send("GET", url, headers or {}, None)

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Response:
        """The answer to a body; redirects are not followed, since they would lose it."""
        return self._send("POST", url, headers, body)

    def close(self) -> None:
        self._client.close()

    def _send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Response:
        self._backend.end = time.monotonic() + self._deadline
        for _ in range(MAX_REDIRECTS + 1):
            if urlsplit(url).scheme not in ("http", "https"):
                raise Refused(f"{_shown(url)} is not an http or https address")
            answer = self._once(method, url, headers, body)
            if method == "POST" or answer.status not in (301, 302, 303, 307, 308) or "location" not in answer.headers:
                return answer
            url = urljoin(url, answer.headers["location"])
        raise Refused(f"more than {MAX_REDIRECTS} redirects")

    def _once(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Response:
        sent = {"User-Agent": "firststory", "Accept-Encoding": "gzip", **headers}
        try:
            with self._client.stream(method, url, headers=sent, content=body) as answer:
                data = self._read(answer.iter_bytes())
                lower = {name.lower(): value for name, value in answer.headers.items()}
                return Response(int(answer.status_code), lower, data, url)
        except self._httpx.InvalidURL as error:
            raise Refused(f"{_shown(url)} is not an address: {error}") from error
        except self._httpx.DecodingError as error:
            raise Failed(f"the answer is damaged: {error}") from error
        except self._httpcore.TimeoutException as error:
            seconds = min(READ_SECONDS, self._deadline)
            raise Failed(f"no whole answer: nothing for {seconds:.0f} s, or not in {self._deadline:.0f} s") from error
        except (self._httpx.HTTPError, self._httpcore.NetworkError, self._httpcore.ProtocolError) as error:
            raise Failed(str(error)[:200] or type(error).__name__) from error

    def _read(self, pieces: Iterable[bytes]) -> bytes:
        found = bytearray()
        for piece in pieces:
            found += piece
            if len(found) > self._max_bytes:
                raise Refused(f"the answer is longer than {self._max_bytes:,} bytes")
        return bytes(found)


def _transport(httpx: Any, httpcore: Any, pool: Any) -> Any:
    """httpx's own transport takes no backend: this one hands requests to a pool that has ours."""

    class Body(httpx.SyncByteStream):  # type: ignore[misc]  # httpx is loaded when it is needed
        def __init__(self, stream: Any) -> None:
            self._stream = stream

        def __iter__(self) -> Iterator[bytes]:
            return iter(self._stream)

        def close(self) -> None:
            self._stream.close()

    class Transport(httpx.BaseTransport):  # type: ignore[misc]
        def handle_request(self, request: Any) -> Any:
            to = request.url
            answer = pool.handle_request(
                httpcore.Request(
                    request.method,
                    httpcore.URL(scheme=to.raw_scheme, host=to.raw_host, port=to.port, target=to.raw_path),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
            return httpx.Response(
                answer.status, headers=answer.headers, stream=Body(answer.stream), extensions=answer.extensions
            )

        def close(self) -> None:
            pool.close()

    return Transport()


class _Backend:
    """Connects to addresses that it has looked up and checked itself; `end` is when the request must be over."""

    def __init__(self, httpcore: Any, allow_private: bool) -> None:
        self._httpcore, self._allow_private = httpcore, allow_private
        self._backend = httpcore.SyncBackend()
        self.end = math.inf

    def connect_tcp(self, host: str, port: int, timeout: float | None = None, **options: Any) -> Any:
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise self._httpcore.ConnectError(f"{host} has no address") from error
        addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
        if not self._allow_private and (bad := [address for address in addresses if not is_public(address)]):
            raise Refused(
                f"{host} has the private address {bad[0]}; allow_private_addresses lets feeds and webhooks reach it"
            )
        problem: Exception = self._httpcore.ConnectError(f"{host} has no address")
        for address in addresses:
            try:
                return _TimedStream(self._backend.connect_tcp(address, port, timeout, **options), self)
            except (self._httpcore.ConnectError, self._httpcore.ConnectTimeout) as error:
                problem = error
        raise problem

    def seconds_left(self, timeout: float | None) -> float:
        """For one read or write: none may outlast the request."""
        left = self.end - time.monotonic()
        if left <= 0:
            raise self._httpcore.ReadTimeout("the deadline has passed")
        return min(left, READ_SECONDS if timeout is None else timeout)


class _TimedStream:
    """A connection whose every read and write knows the deadline of the request: headers may come slowly, too."""

    def __init__(self, stream: Any, backend: _Backend) -> None:
        self._stream, self._backend = stream, backend

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data: bytes = self._stream.read(max_bytes, self._backend.seconds_left(timeout))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._backend.seconds_left(timeout))

    def start_tls(self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None) -> Any:
        secured = self._stream.start_tls(ssl_context, server_hostname, self._backend.seconds_left(timeout))
        return _TimedStream(secured, self._backend)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def close(self) -> None:
        self._stream.close()


def _shown(url: str) -> str:
    """An address for a message: without what may be secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"[:150]


def retry_after(value: str | None) -> float | None:
    """Seconds that a Retry-After header asks for, as a number or a date; never more than a day."""
    if not value:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return min(max(seconds, 0.0), LONGEST_RETRY)
