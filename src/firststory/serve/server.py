"""From options to a running server: who may listen where, who writes the store, and how it ends."""

from __future__ import annotations

import signal
import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import FrameType

import uvicorn

from firststory.errors import ParameterError, StoreError
from firststory.serve.app import create_app
from firststory.serve.options import ServiceOptions
from firststory.serve.protocol import BoundedHttpProtocol
from firststory.serve.service import Service
from firststory.serve.stream import AnyStream
from firststory.store.store import Store
from firststory.store.tokens import tokens

SECONDS_TO_FINISH = 5
"""For requests that are being answered when the service is told to stop."""
SWITCH_SECONDS = 0.001
"""How long an answer that is being worked out may keep the interpreter to itself while others wait."""

Say = Callable[[str], None]


def check_address(options: ServiceOptions, store: Store) -> None:
    """Others may only listen to who has a token: refuse to be reachable from outside without one."""
    if options.is_loopback or any(token.revoked is None for token in tokens(store)):
        return
    raise ParameterError(
        owner="firststory serve",
        parameter="--host",
        allowed="an address of this machine alone, while the store has no token",
        received=options.host,
        remedy=f"Make a token first: firststory token create NAME --store {store.name}",
        message=f"Everyone who can reach {options.host} could read and write this store: it has no token.",
    )


def check_certificate(options: ServiceOptions) -> None:
    """A certificate or key that cannot be used is told before anything is started."""
    if options.certificate is None:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(options.certificate, options.key)
    except (OSError, ssl.SSLError) as error:
        raise ParameterError(
            owner="firststory serve",
            parameter="--certificate and --key",
            allowed="a certificate and its private key, as PEM files",
            received=f"{options.certificate}, {options.key}: {error.strerror or error}",
            remedy="Check both files; the key must be that of the certificate.",
        ) from error


def why_not_claimed(store: Store) -> str:
    """Why this process cannot become the writer of the store, in words; empty where it can."""
    try:
        store.claim()
    except StoreError as error:
        return error.without_owner
    return ""


def serve(
    url: str, options: ServiceOptions, *, stream: AnyStream | None = None, why_read_only: str = "", say: Say
) -> None:
    """Serve until told to stop; the stream, where there is one, is started and stopped with the service."""
    check_certificate(options)
    sys.setswitchinterval(SWITCH_SECONDS)
    service = Service(url, options, stream=stream, why_read_only=why_read_only, say=say)
    try:
        check_address(options, service.reader)
        with bound(options) as listening:
            server = Server(service, say)
            if stream is not None:
                stream.on_end = server.stop
            server.run(sockets=[listening])
            was_interrupted = server.was_interrupted
        if stream is not None and stream.state == "failed" and stream.problem is not None:
            raise stream.problem
    finally:
        service.close()
    if was_interrupted:
        raise KeyboardInterrupt


def bound(options: ServiceOptions) -> socket.socket:
    """The socket to listen on; an error that says what to do where it cannot be had."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((options.host, options.port))
        listening.listen(1024)
    except (OSError, OverflowError) as error:
        listening.close()
        raise ParameterError(
            owner="firststory serve",
            parameter="--host and --port",
            allowed="an address of this machine that is free",
            received=f"{options.host}, port {options.port}: {getattr(error, 'strerror', None) or error}",
            remedy="Choose another port with --port; 0 takes a free one.",
        ) from error
    return listening


class Server(uvicorn.Server):
    """A server that lets those go who listen to events when it is told to stop, and never hangs on them."""

    def __init__(self, service: Service, say: Say) -> None:
        options = service.options
        super().__init__(
            uvicorn.Config(
                create_app(service),
                http=BoundedHttpProtocol,
                loop="uvloop" if find_spec("uvloop") else "asyncio",  # there is none for Windows
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=True,
                lifespan="on",
                proxy_headers=options.proxy is not None,
                forwarded_allow_ips=options.proxy,
                ssl_certfile=options.certificate,
                ssl_keyfile=options.key,
                timeout_graceful_shutdown=SECONDS_TO_FINISH,
                timeout_keep_alive=30,
                ws="none",
            )
        )
        self._service, self._say = service, say
        self.was_interrupted = False

    def stop(self) -> None:
        """Stop; may be called from any thread."""
        self._service.stop_listening()
        self.should_exit = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.was_interrupted = True
        self._service.stop_listening()
        super().handle_exit(sig, frame)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As the one that is replaced, which would send itself the signal again before the store is given back."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started and sockets:
            self._say(_greeting(self._service, sockets[0].getsockname()[1]))


def _greeting(service: Service, port: int) -> str:
    options = service.options
    scheme = "https" if options.certificate else "http"
    return f"Open {scheme}://{options.shown_host}:{port}/ (Ctrl-C stops)."
