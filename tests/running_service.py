"""``ovaflow serve`` as a process of its own, for tests that talk to it as clients do."""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from urllib.parse import urlsplit


class Service:
    """A running service.

    Attributes
    ----------
    process : subprocess.Popen
    url : str
        Such as ``http://127.0.0.1:40123``.
    """

    def __init__(self, process, log_path):
        self.process, self._log_path = process, log_path
        self.url = self._address()

    def _address(self):
        for _ in range(600):
            found = re.search(r"Z (http://\S+|unix:\S+) serves", self.log)
            if found:
                return found[1]
            assert self.process.poll() is None, self.log
            time.sleep(0.1)
        raise AssertionError(f"not ready: {self.log}")

    @property
    def log(self):
        """All that it wrote so far."""
        return self._log_path.read_text(encoding="utf-8")

    def connect(self, timeout=60):
        """A connection of the standard library's client."""
        return http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=timeout)

    def ask(self, path, body=None, connection=None):
        """Status and answer, JSON or text; ``body`` is bytes or becomes JSON."""
        own = connection or self.connect()
        try:
            status, _, content = exchange(own, path, body)
        finally:
            if connection is None:
                own.close()
        return status, content

    def wait_for(self, pattern, seconds=30):
        """Wait until a line of the log fits."""
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.log):
            assert time.monotonic() < deadline, self.log
            time.sleep(0.02)

    def workers(self, count):
        """Process ids of its workers, once there are so many."""
        for _ in range(600):
            with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as file:
                found = [int(each) for each in file.read().split()]
            if len(found) == count:
                return found
            time.sleep(0.05)
        raise AssertionError(self.log)


def exchange(connection, path, body=None):
    """Send a request and read the answer: status, headers, and JSON or text."""
    headers = {}
    if body is not None:
        headers["Content-Type"] = "application/json"
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
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
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, env=os.environ)
    try:
        yield Service(process, log_path)
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        process.wait(60)
