"""An HTTP server on 127.0.0.1 that misbehaves as told."""

import contextlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class LocalServer:
    """Serves ``files`` (by path); ``answers`` holds functions (handler, content) for the next
    requests of a path.

    ``asked`` lists the paths that came in, with their queries.
    """

    def __init__(self) -> None:
        self.files = {}
        self.answers = {}
        self.asked = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.root = f"http://127.0.0.1:{self._http.server_port}"

    def _handler(self):
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.close_connection = True
                path = self.path.partition("?")[0]
                server.asked.append(self.path)
                queue = server.answers.get(path, [])
                answer = (
                    queue.pop(0)
                    if queue
                    else answer_with_status(404)
                    if path not in server.files
                    else answer_with_content
                )
                answer(self, server.files.get(path))

            def end_headers(self) -> None:
                self.send_header("Connection", "close")
                super().end_headers()

            def log_message(self, *arguments) -> None:
                pass

        return Handler


def answer_with_content(handler, content, sent=None, **headers) -> None:
    """Answer 200, perhaps breaking off after ``sent`` bytes."""
    handler.send_response(200)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content[:sent])


def answer_with_status(code, **headers):
    """An answer without content."""

    def answer(handler, content) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


@contextlib.contextmanager
def local_server():
    """Run a LocalServer for as long as the block lasts."""
    server = LocalServer()
    thread = threading.Thread(
        target=server._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield server
    finally:
        server._http.shutdown()
        server._http.server_close()
        thread.join()
