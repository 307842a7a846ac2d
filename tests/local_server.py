"""An HTTP server on 127.0.0.1 that misbehaves as told."""

import contextlib
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class LocalServer:
    """Serves ``files`` (by path); ``answers`` holds functions (handler, content) for the next requests of a path.

    ``asked`` lists what came in: (path, Range header or None), ``headers`` all headers of each.

    Parameters
    ----------
    certificate : tuple of path-like, optional
        Files of certificate and key, for https.
    """

    def __init__(self, certificate=None):
        self.files, self.answers, self.asked, self.headers = {}, {}, [], []
        self.etag = '"1"'
        self.ranges = True
        self.released = threading.Event()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.root = f"http{'s' if certificate else ''}://127.0.0.1:{self._http.server_port}"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self._http.socket = context.wrap_socket(self._http.socket, server_side=True)

    def _handler(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                self.close_connection = True
                path = self.path.partition("?")[0]
                server.asked.append((self.path, self.headers.get("Range")))
                server.headers.append(dict(self.headers))
                queue = server.answers.get(path, [])
                answer = queue.pop(0) if queue else server.normal
                answer(self, server.files.get(path))

            def end_headers(self):
                self.send_header("Connection", "close")
                super().end_headers()

            def log_message(self, *arguments):
                pass

        return Handler

    def normal(self, handler, content):
        """Answer as a good server does: with ranges and 404."""
        if content is None:
            return status(404)(handler, content)
        first = self._first(handler)
        if first is None:
            return self.whole(handler, content)
        if first >= len(content):
            handler.send_response(416)
            handler.send_header("Content-Range", f"bytes */{len(content)}")
            handler.send_header("Content-Length", "0")
            return handler.end_headers()
        handler.send_response(206)
        handler.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        handler.send_header("ETag", self.etag)
        handler.send_header("Content-Length", str(len(content) - first))
        handler.end_headers()
        handler.wfile.write(content[first:])

    def _first(self, handler):
        asked, condition = handler.headers.get("Range"), handler.headers.get("If-Range")
        if not asked or not self.ranges or (condition and condition != self.etag):
            return None
        return int(asked.removeprefix("bytes=").removesuffix("-"))

    def whole(self, handler, content, announced=None, sent=None):
        """Answer 200; perhaps with a wrong length, perhaps breaking off after ``sent`` bytes."""
        handler.send_response(200)
        handler.send_header("ETag", self.etag)
        handler.send_header("Content-Length", str(len(content) if announced is None else announced))
        handler.end_headers()
        handler.wfile.write(content[:sent])

    def broken_off(self, sent):
        """An answer that ends too early."""
        return lambda handler, content: self.whole(handler, content, sent=sent)

    def stalled(self, sent):
        """An answer that stops in the middle and waits until ``released``."""

        def answer(handler, content):
            self.whole(handler, content, sent=sent)
            handler.wfile.flush()
            self.released.wait(30)

        return answer


def status(code, **headers):
    """An answer without content."""

    def answer(handler, content):
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


@contextlib.contextmanager
def local_server(certificate=None):
    """Run a LocalServer for as long as the block lasts."""
    server = LocalServer(certificate)
    thread = threading.Thread(target=server._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.released.set()
        server._http.shutdown()
        server._http.server_close()
        thread.join()
