"""``ovaflow serve``: takes the address and leaves the processes to uvicorn.

Each worker imports this module before it can report to uvicorn, so modules that take seconds to
import are imported where they are needed.
"""

import errno
import json
import logging.config
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Sequence
from ipaddress import ip_address
from pathlib import Path
from types import FrameType, SimpleNamespace

import uvicorn
from uvicorn.config import STARTUP_FAILURE

from ovaflow.console.errors import InputError
from ovaflow.serving.supervisor import Supervisor

_OPTIONS_VARIABLE = "OVAFLOW_SERVE"
"""Environment variable with the options, for the workers."""

_HEALTHCHECK_SECONDS = 30
"""Seconds of silence after which uvicorn replaces a worker; one that starts at SIGHUP has as long
to open the model.
"""

_KEEP_ALIVE_SECONDS = 75
"""Seconds that an idle connection stays open: longer than those of proxies, which then close it."""

_HEADERS = [
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
]
"""Headers of every answer."""

_log = logging.getLogger(__name__)


def read_worker_options() -> SimpleNamespace:
    """Read the options that :func:`serve` was called with, in one of its workers."""
    return SimpleNamespace(**json.loads(os.environ[_OPTIONS_VARIABLE]))


def serve(options: SimpleNamespace, listener: socket.socket) -> int:
    """Serve models on a bound socket until a signal ends the service.

    Parameters
    ----------
    options : namespace
        Options of the command.
    listener : socket
        From :func:`bind_listener`.

    Returns
    -------
    int
        Exit status.
    """
    logging.config.dictConfig(_LOGGING_CONFIG)
    _check_models(options)
    _log.info("%s opens %s", format_address(listener), ", ".join(options.models.values()))
    # uvicorn raises these signals again when it is done
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _exit)
    # until uvicorn handles it
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with tempfile.TemporaryDirectory(prefix="ovaflow-metrics-") as metrics_folder:
        os.environ[_OPTIONS_VARIABLE] = json.dumps(vars(options), default=str)
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = metrics_folder
        supervisor = Supervisor(_make_uvicorn_config(options), [listener])
        supervisor.run()
        exit_codes = [process.exitcode for process in supervisor.processes]
        return int(STARTUP_FAILURE in exit_codes)


def _check_models(options: SimpleNamespace) -> None:
    """Open the models and their files once, because an error here is one line."""
    from ovaflow.serving.corrections import check_corrections
    from ovaflow.serving.excluded_labels import read_excluded_labels
    from ovaflow.serving.served_model import open_served_model

    for name, path in options.models.items():
        served = open_served_model(path, options.reranker, rerank=options.rerank)
        if name in options.corrections:
            check_corrections(served.predictor, options.corrections[name])
        if name in options.exclude:
            read_excluded_labels(served.predictor, options.exclude[name])


def _exit(number: int, frame: FrameType | None) -> None:
    sys.exit(0)


def _make_uvicorn_config(options: SimpleNamespace) -> uvicorn.Config:
    return uvicorn.Config(
        "ovaflow.serving.application:create_application",
        factory=True,
        workers=options.workers,
        # httptools sets headers no limit
        http="h11",
        ws="none",
        log_config=_LOGGING_CONFIG,
        # it would have searches and addresses of clients
        access_log=False,
        server_header=False,
        headers=_HEADERS,
        # uvicorn refuses the connection that reaches the limit
        limit_concurrency=options.max_connections + 1,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=options.grace,
        timeout_worker_healthcheck=_HEALTHCHECK_SECONDS,
    )


class UtcFormatter(logging.Formatter):
    """Formatter of lines that begin with the date and time, in UTC."""

    converter = staticmethod(time.gmtime)


_LOGGING_CONFIG = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": UtcFormatter,
            "format": "%(asctime)s.%(msecs)03dZ %(message)s",
            "datefmt": "%Y-%m-%dT%H:%M:%S",
        }
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "loggers": {
        "uvicorn": {"handlers": ["stderr"], "level": "INFO"},
        "ovaflow.serving": {"handlers": ["stderr"], "level": "INFO"},
    },
}


def bind_listener(host: str, port: int, unix_socket: Path | None = None) -> socket.socket:
    """Bind a socket, so that a wrong address is refused before anything is loaded; clients cannot
    connect yet.
    """
    try:
        if unix_socket is not None:
            return _bind_unix(unix_socket)
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        family, kind, protocol, _, address = addresses[0]
        listener = socket.socket(family, kind, protocol)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        return listener
    except (OSError, UnicodeError) as error:
        where = unix_socket or f"{host}, port {port}"
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"cannot listen on {where}: {reason}", remedy="choose another address"
        ) from None


def _bind_unix(path: Path) -> socket.socket:
    with socket.socket(socket.AF_UNIX) as other:
        if path.is_socket() and other.connect_ex(os.fspath(path)) == errno.ECONNREFUSED:
            # left by a service that has ended
            path.unlink()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.fspath(path))
    # a proxy is another user; the folder's permissions say who may connect
    path.chmod(0o666)
    return listener


def list_allowed_hosts(listener: socket.socket, names: Sequence[str]) -> list[str]:
    """List the names by which clients may call: any, unless there are names or only programs of
    this machine can connect.
    """
    # a page of another site whose name is made to resolve to 127.0.0.1 is such a program
    loopback = _get_loopback_host(listener)
    if loopback is None and not names:
        return ["*"]
    hosts = ["localhost", "127.0.0.1", "[::1]"]
    if loopback is not None:
        hosts.append(loopback)
    return [*hosts, *names]


def _get_loopback_host(listener: socket.socket) -> str | None:
    """Return the host of a socket on a loopback address; None for other sockets."""
    if listener.family == socket.AF_UNIX:
        return None
    address = listener.getsockname()[0]
    if not address or not ip_address(address).is_loopback:
        return None
    return _format_host(address)


def format_address(listener: socket.socket) -> str:
    """Format the address of a socket as a person types it: a URL, or the path of a Unix socket."""
    name = listener.getsockname()
    if listener.family == socket.AF_UNIX:
        return f"unix:{name}"
    return f"http://{_format_host(name[0])}:{name[1]}"


def _format_host(address: str) -> str:
    return f"[{address}]" if ":" in address else address
