"""An HTTP server on 127.0.0.1 whose answers tests choose, wrong ones too."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class LocalServer:
    """A server of files.

    Attributes
    ----------
    files : dict
        Contents by path.
    answers : dict
        For a path, functions (handler, content) that answer its next requests.
    asked : list of str
        Requested paths with their queries.
    root : str
        URL of the server.
    """

    def __init__(self) -> None:
        self.files = {}
        self.answers = {}
        self.asked = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.root = f"http://127.0.0.1:{self._http.server_port}"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self.close_connection = True
                path = self.path.partition("?")[0]
                server.asked.append(self.path)
                queue = server.answers.get(path, [])
                if queue:
                    answer = queue.pop(0)
                elif path in server.files:
                    answer = answer_with_content
                else:
                    answer = answer_with_status(404)
                answer(self, server.files.get(path))

            def end_headers(self) -> None:
                self.send_header("Connection", "close")
                super().end_headers()

            def log_message(self, *arguments) -> None:
                pass

        return Handler


def answer_with_content(handler, content, sent=None, **headers) -> None:
    """Answer 200; with ``sent`` the content ends after this many bytes."""
    handler.send_response(200)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content[:sent])


def answer_with_status(code, **headers) -> Callable:
    """Make an answer without content."""

    def answer(handler, content) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


@contextlib.contextmanager
def local_server() -> Iterator[LocalServer]:
    """Run a LocalServer during a block."""
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
