"""HTTP servers on loopback that behave as the test says: each path has a function that answers it."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class HttpServer:
    """`answers[path]` is called with the handler; every request is kept as (method, path, headers, body)."""

    def __init__(self):
        self.answers, self.requests = {}, []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                outer.requests.append((self.command, self.path, dict(self.headers.items()), body))
                try:
                    outer.answers[self.path](self)
                except KeyError:
                    self.send_error(404)
                except (BrokenPipeError, ConnectionResetError):
                    pass

            do_GET = do_POST = handle_any

            def log_message(self, *parts):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def serve(self, path, body=b"", status=200, **headers):
        """Answer a path with these bytes."""
        self.answers[path] = lambda handler: reply(handler, body, status, **headers)
        return self.url(path)

    def stop(self):
        if self.server is None:
            return
        server, self.server = self.server, None
        server.shutdown()
        server.server_close()


def reply(handler, body=b"", status=200, **headers):
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)
