"""``ovaflow serve``, all parts put together."""

import contextlib
import sys
import time
from dataclasses import dataclass, field

import uvicorn

from ovaflow.console.errors import InputError
from ovaflow.serving.application import application
from ovaflow.serving.boundary import Boundary
from ovaflow.serving.limits import Limits
from ovaflow.serving.metrics import Metrics
from ovaflow.serving.protocol import protocol_within
from ovaflow.serving.reloading import Reloading
from ovaflow.serving.scoring_queue import ScoringQueue
from ovaflow.serving.workers import BACKLOG, Supervisor, Worker, address_of


@dataclass(frozen=True)
class Settings:
    """How the service runs.

    Attributes
    ----------
    workers : int
        Processes.
    threads : int
        Of each process, for scoring.
    limits : Limits
    root_path : str
        Where a proxy offers the service.
    access_log : bool
    grace : float
        Seconds that requests in flight have once the service is told to stop.
    """

    workers: int = 1
    threads: int = 1
    limits: Limits = field(default_factory=Limits)
    root_path: str = ""
    access_log: bool = True
    grace: float = 30.0


def serve(files, listener, settings):
    """Serve a model until told to stop.

    Parameters
    ----------
    files : ovaflow.serving.served_model.Files
    listener : socket.socket
        Bound, see :func:`ovaflow.serving.workers.bind`.
    settings : Settings

    Returns
    -------
    int
        Exit status.

    Raises
    ------
    InputError
        If the files cannot be served.
    """
    began = time.perf_counter()
    served = files.open()
    seen = served.state
    metrics = Metrics(settings.workers)

    def work(number, lifeline):
        _work(number, lifeline, files, served, listener, metrics, settings)

    def follow():
        nonlocal served, seen
        if files.state() == seen:
            return
        seen = files.state()
        with contextlib.suppress(InputError, OSError):  # the workers say so
            served = files.open()
            log(f"further workers begin with model {served.checksum}")

    listener.listen(BACKLOG)
    log(
        f"{address_of(listener)} serves model {served.checksum}: {served.predictor.n_labels:,} labels, "
        f"opened in {time.perf_counter() - began:.2f} s. {served.remark}".rstrip()
    )
    return Supervisor(settings.workers, work, follow, settings.grace + 5, log).run()


def log(line):
    """Write a line of the log.

    Parameters
    ----------
    line : str
    """
    now = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
    sys.stderr.write(f"{stamp}.{int(now % 1 * 1000):03d}Z {line}\n")
    sys.stderr.flush()


def _work(number, lifeline, files, served, listener, metrics, settings):
    """What a worker does, in its own process."""
    limits = settings.limits
    metrics.become(number)
    reloading = Reloading(files, served, metrics, lambda line: log(f"worker {number}: {line}"))
    queue = ScoringQueue(settings.threads, limits.waiting, limits.request_seconds, metrics.set_busy)
    app = application(reloading, queue, limits, metrics, settings.root_path)
    app = Boundary(app, limits, metrics, log if settings.access_log else None)
    config = uvicorn.Config(
        app,
        http=protocol_within(limits, lambda status: metrics.count_request("other", status)),
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=int(settings.grace),
    )
    Worker(config, lifeline, reloading).run(sockets=[listener])
    queue.close()
