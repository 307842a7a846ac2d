"""``ovaflow serve`` as a process of its own, for tests that talk to it as clients do."""

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

import psutil


class Service:
    """A running service, at ``url`` such as ``http://127.0.0.1:40123``."""

    def __init__(self, process, log_path) -> None:
        self.process = process
        self._log_path = log_path
        self.wait_for("Application startup complete", 90)
        self.url = re.search(r"Z (http://\S+|unix:\S+) opens", self.log)[1]
        wait_until(self._accepts, self)

    def _accepts(self):
        is_unix = self.url.startswith("unix:")
        with socket.socket(socket.AF_UNIX if is_unix else socket.AF_INET) as connection:
            address = urlsplit(self.url)
            return (
                connection.connect_ex(address.path if is_unix else (address.hostname, address.port))
                == 0
            )

    @property
    def log(self):
        """All that it wrote so far."""
        return self._log_path.read_text(encoding="utf-8")

    def connect(self, timeout=60):
        address = urlsplit(self.url)
        connection = http.client.HTTPConnection(address.netloc or "localhost", timeout=timeout)
        if not address.netloc:
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.connect(address.path)
        return connection

    def ask(self, path, body=None):
        """Status and answer, JSON or text; ``body`` is bytes of JSON, a form as a str, or becomes
        JSON.
        """
        connection = self.connect()
        try:
            status, _, content = exchange(connection, path, body)
        finally:
            connection.close()
        return status, content

    def answer(self, path, body=None, status=200):
        """The answer, which has this status."""
        found, content = self.ask(path, body)
        assert found == status, content
        return content

    def wait_for(self, pattern, seconds=60, times=1) -> None:
        """Wait until so many lines of the log match."""
        wait_until(lambda: len(re.findall(pattern, self.log)) >= times, self, seconds)

    def workers(self):
        """Process ids of its workers; multiprocessing has a helper process besides."""
        children = psutil.Process(self.process.pid).children()
        return [
            child.pid for child in children if any("spawn_main" in word for word in child.cmdline())
        ]


def wait_until(condition, service, seconds=60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert service.process.poll() is None, service.log
        assert time.monotonic() < deadline, service.log
        time.sleep(0.02)


def exchange(connection, path, body=None):
    """Send a request and read the answer: status, headers, and JSON or text."""
    headers = {}
    if body is not None:
        headers["Content-Type"] = (
            f"application/{'x-www-form-urlencoded' if isinstance(body, str) else 'json'}"
        )
        body = body if isinstance(body, bytes | str) else json.dumps(body).encode()
    connection.request("GET" if body is None else "POST", path, body, headers)
    response = connection.getresponse()
    content = response.read().decode()
    is_json = "json" in response.headers.get("Content-Type", "")
    return response.status, response.headers, json.loads(content) if is_json else content


@contextlib.contextmanager
def running_service(folder, model, *options):
    """Start the service on a free port and end it with SIGTERM, unless the test has."""
    number = len(list(folder.glob("service-*.log")))
    log_path = folder / f"service-{number}.log"
    where = [] if any("--unix-socket" in option for option in options) else ["--port=0"]
    command = [sys.executable, "-m", "ovaflow", "serve", str(model), *where, *options]
    with open(log_path, "wb") as log:
        process = subprocess.Popen(
            command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=os.environ
        )
    try:
        yield Service(process, log_path)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(60)
