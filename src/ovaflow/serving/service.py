"""``ovaflow serve``: takes the address and leaves the processes to uvicorn.

Each worker imports this module before it can tell uvicorn that it lives, so
what takes seconds to import waits until it is needed.
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
from ipaddress import ip_address
from types import SimpleNamespace

import uvicorn
from uvicorn.config import STARTUP_FAILURE

from ovaflow.console.errors import InputError
from ovaflow.serving.supervisor import Supervisor

_OPTIONS_VARIABLE = "OVAFLOW_SERVE"  # environment variable that tells workers the options

_HEALTHCHECK_SECONDS = 30
"""uvicorn replaces a worker that is silent for so long; one that starts at SIGHUP has as long to
open the model.
"""

_log = logging.getLogger(__name__)


def read_worker_options():
    """The options that :func:`serve` was called with, in one of its workers."""
    return SimpleNamespace(**json.loads(os.environ[_OPTIONS_VARIABLE]))


def serve(options, listener):
    """Serve a model on a bound socket until told to stop; return the exit status. Options are those
    of the command.
    """
    from ovaflow.serving.corrections import check_corrections
    from ovaflow.serving.excluded_labels import read_excluded_labels
    from ovaflow.serving.served_model import open_served_model

    logging.config.dictConfig(_LOGGING_CONFIG)
    # here an error is one line
    for name, path in options.models.items():
        served = open_served_model(path, options.reranker, options.rerank)
        if name in options.corrections:
            check_corrections(served.predictor, options.corrections[name])
        if name in options.exclude:
            read_excluded_labels(served.predictor, options.exclude[name])
    _log.info("%s opens %s", format_address(listener), ", ".join(options.models.values()))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))  # uvicorn raises them again when it is done
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until uvicorn takes it
    with tempfile.TemporaryDirectory(prefix="ovaflow-metrics-") as metrics:
        os.environ |= {
            _OPTIONS_VARIABLE: json.dumps(vars(options), default=str),
            "PROMETHEUS_MULTIPROC_DIR": metrics,
        }
        config = uvicorn.Config(
            "ovaflow.serving.application:create_application",
            factory=True,
            workers=options.workers,
            http="h11",  # httptools sets headers no limit
            ws="none",
            log_config=_LOGGING_CONFIG,
            access_log=False,  # it would have searches and addresses of clients
            server_header=False,
            headers=[
                ("X-Content-Type-Options", "nosniff"),
                ("Referrer-Policy", "no-referrer"),
                ("Cache-Control", "no-store"),
            ],
            limit_concurrency=options.max_connections
            + 1,  # uvicorn refuses the one that reaches it
            timeout_keep_alive=75,
            timeout_graceful_shutdown=options.grace,
            timeout_worker_healthcheck=_HEALTHCHECK_SECONDS,
        )
        supervisor = Supervisor(config, [listener])
        supervisor.run()
        return int(any(process.exitcode == STARTUP_FAILURE for process in supervisor.processes))


class UtcFormatter(logging.Formatter):
    """Lines that begin with the date and time, in UTC."""

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
        name: {"handlers": ["stderr"], "level": "INFO"} for name in ("uvicorn", "ovaflow.serving")
    },
}


def bind_listener(host, port, unix_socket=None):
    """Take the address, so that a wrong one is refused before anything is loaded; nobody can
    connect yet.
    """
    try:
        if unix_socket is not None:
            return _bind_unix(unix_socket)
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
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


def _bind_unix(path):
    with socket.socket(socket.AF_UNIX) as other:
        if path.is_socket() and other.connect_ex(os.fspath(path)) == errno.ECONNREFUSED:
            path.unlink()  # left by a service that has ended
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.fspath(path))
    path.chmod(0o666)  # a proxy is another user; the folder says who may come near
    return listener


def list_allowed_hosts(listener, names):
    """Names by which clients may call: any, unless there are names or only programs of this machine
    can connect.
    """
    # to these belongs a page of another site whose name is made to resolve to 127.0.0.1
    address = listener.getsockname()[0] if listener.family != socket.AF_UNIX else ""
    here = (
        [f"[{address}]" if ":" in address else address]
        if address and ip_address(address).is_loopback
        else []
    )
    if here or names:
        return ["localhost", "127.0.0.1", "[::1]", *here, *names]
    return ["*"]


def format_address(listener):
    """Where a socket listens, as a person types it: a URL, or the path of a Unix socket."""
    name = listener.getsockname()
    if listener.family == socket.AF_UNIX:
        return f"unix:{name}"
    host = f"[{name[0]}]" if ":" in name[0] else name[0]
    return f"http://{host}:{name[1]}"
