"""``ovaflow serve`` as a process of its own, for tests that are its clients."""

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
from collections.abc import Iterator
from typing import Any
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

    def _accepts(self) -> bool:
        url = urlsplit(self.url)
        if url.scheme == "unix":
            family = socket.AF_UNIX
            address = url.path
        else:
            family = socket.AF_INET
            address = (url.hostname, url.port)
        with socket.socket(family) as connection:
            return connection.connect_ex(address) == 0

    @property
    def log(self) -> str:
        """Output of the process so far."""
        return self._log_path.read_text(encoding="utf-8")

    def connect(self, timeout=60) -> http.client.HTTPConnection:
        """Open a connection."""
        address = urlsplit(self.url)
        connection = http.client.HTTPConnection(address.netloc or "localhost", timeout=timeout)
        if not address.netloc:
            connection.sock = socket.socket(socket.AF_UNIX)
            connection.sock.connect(address.path)
        return connection

    def ask(self, path, body=None) -> tuple[int, Any]:
        """Send a request; return status and answer, JSON or text.

        ``body`` is bytes of JSON, a form as a str, or an object that becomes JSON.
        """
        connection = self.connect()
        try:
            status, _, content = exchange(connection, path, body)
        finally:
            connection.close()
        return status, content

    def answer(self, path, body=None, status=200) -> Any:
        """Send a request whose answer has a status; return the answer."""
        received, content = self.ask(path, body)
        assert received == status, content
        return content

    def wait_for(self, pattern, seconds=60, times=1) -> None:
        """Wait until a number of lines of the log match."""
        wait_until(lambda: len(re.findall(pattern, self.log)) >= times, self, seconds)

    def workers(self) -> list[int]:
        """List the process ids of its workers, without the helper of multiprocessing."""
        children = psutil.Process(self.process.pid).children()
        return [child.pid for child in children if "spawn_main" in " ".join(child.cmdline())]


def wait_until(condition, service, seconds=60) -> None:
    """Wait until a condition holds; fail if the service ends before, or when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert service.process.poll() is None, service.log
        assert time.monotonic() < deadline, service.log
        time.sleep(0.02)


def exchange(connection, path, body=None) -> tuple[int, Any, Any]:
    """Send a request and read the answer: status, headers, and JSON or text."""
    headers = {}
    if isinstance(body, str):
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    elif body is not None:
        headers["Content-Type"] = "application/json"
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
    method = "GET" if body is None else "POST"
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    content = response.read().decode()
    if "json" in response.headers.get("Content-Type", ""):
        content = json.loads(content)
    return response.status, response.headers, content


@contextlib.contextmanager
def running_service(folder, model, *options) -> Iterator[Service]:
    """Start the service on a free port, and end it with SIGTERM if the test has not done so."""
    number = len(list(folder.glob("service-*.log")))
    log_path = folder / f"service-{number}.log"
    command = [sys.executable, "-m", "ovaflow", "serve", str(model), *options]
    if not any("--unix-socket" in option for option in options):
        command.append("--port=0")
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
