"""Metrics for Prometheus, added up over all workers, and the log of requests.

prometheus_client keeps the counts of each worker in files of the folder that
PROMETHEUS_MULTIPROC_DIR names; it must be set before this module is imported.
"""

import asyncio
import contextlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import psutil
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ovaflow import __version__
from ovaflow.prediction.familiarity import WordCount
from ovaflow.serving import failures, supervisor

_SECONDS_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""Upper bounds of the histogram of request times."""

REQUEST_COUNT = Counter(
    "ovaflow_requests", "Requests answered or refused, by route and status.", ["route", "status"]
)
REQUEST_SECONDS = Histogram(
    "ovaflow_request_seconds",
    "Seconds from the request's head to its answer, by route.",
    ["route"],
    buckets=_SECONDS_BUCKETS,
)
INSTANCE_COUNT = Counter("ovaflow_instances", "Instances predicted.")
BUSY_REQUESTS = Gauge(
    "ovaflow_busy", "Requests in a scoring thread or waiting for one.", multiprocess_mode="livesum"
)
_MODEL_WORKERS = Gauge(
    "ovaflow_model_workers",
    "Workers that answer with a model.",
    ["model"],
    multiprocess_mode="livesum",
)
_WORD_COUNT = Counter("ovaflow_words", "Words of texts.", ["model"])
_UNKNOWN_WORD_COUNT = Counter("ovaflow_unknown_words", "Words that are not known.", ["model"])
_REFERENCE_UNKNOWN_SHARE = Gauge(
    "ovaflow_reference_unknown_words_ratio",
    "Share of unknown words of the test set.",
    ["model"],
    multiprocess_mode="livemax",
)
EXCLUSION_FAILURE_TIME = Gauge(
    "ovaflow_left_out_failed_timestamp_seconds",
    "Time of the first failure to read the file of labels to leave out; 0 if it is read.",
    ["project"],
    multiprocess_mode="livemostrecent",
)
_BUILD_INFO = Gauge(
    "ovaflow_build_info", "Version of ovaflow.", ["version"], multiprocess_mode="max"
)


def count_worker(checksums: Iterable[str]) -> None:
    """Count this worker as one that answers with these models."""
    BUSY_REQUESTS.set(0)
    for checksum in checksums:
        _MODEL_WORKERS.labels(checksum).set(1)
    _BUILD_INFO.labels(__version__).set(1)


def make_word_counter(checksum: str, usual_share: float | None) -> Callable[[WordCount], None]:
    """Make the function that counts the words of texts that a model is asked about.

    Parameters
    ----------
    checksum : str
        Checksum of the model.
    usual_share : float or None
        Share of unknown words of its test set; None where it is unknown.
    """
    words = _WORD_COUNT.labels(checksum)
    unknown_words = _UNKNOWN_WORD_COUNT.labels(checksum)
    if usual_share is not None:
        _REFERENCE_UNKNOWN_SHARE.labels(checksum).set(usual_share)

    def count_words(word_count: WordCount) -> None:
        words.inc(word_count.words)
        unknown_words.inc(word_count.unknown)

    return count_words


def render_metrics() -> bytes:
    """Render all workers' metrics in Prometheus's text format."""
    registry = CollectorRegistry()
    registry.register(_WorkerCollector())
    registry.register(_ReloadCollector())
    return generate_latest(registry)


def remove_metrics() -> None:
    """Remove the metrics that a killed supervisor has left; other workers may do so at the same
    time.
    """
    shutil.rmtree(os.environ["PROMETHEUS_MULTIPROC_DIR"], ignore_errors=True)


class _WorkerCollector(Collector):
    """Collector that adds up the files of all workers, while workers come and go."""

    def collect(self) -> Iterable[Metric]:
        files = []
        for path in Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]).glob("*.db"):
            worker = int(path.stem.rpartition("_")[2])
            # another worker may have just removed it
            with contextlib.suppress(FileNotFoundError):
                if path.name.startswith("gauge_live") and not psutil.pid_exists(worker):
                    path.unlink()
                # a worker that starts may have just opened it, still empty
                elif path.stat().st_size:
                    files.append(path)
        return MultiProcessCollector.merge(files)


class _ReloadCollector(Collector):
    """Collector of the failure that the supervisor has recorded."""

    def collect(self) -> Iterator[Metric]:
        name = "ovaflow_reload_failed_timestamp_seconds"
        description = "Time since which reloading the model fails; 0 if the last reload worked."
        failure = GaugeMetricFamily(name, description)
        failure.add_metric([], failures.get_failure_time(supervisor.RELOAD_FAILURE))
        yield failure


class RequestObserver:
    """ASGI middleware that counts each request and logs it, without its content and sender."""

    def __init__(self, app: ASGIApp, *, access_log: bool) -> None:
        self._app = app
        self._access_log = access_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; it is counted before its client can ask for the metrics."""
        began = time.perf_counter()

        async def send_and_count(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._count(scope, message["status"], time.perf_counter() - began)
            await send(message)

        # uvicorn can note meanwhile that it refused a malformed body that came with the head
        await asyncio.sleep(0)
        await self._app(scope, receive, send_and_count)

    def _count(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "other")
        REQUEST_COUNT.labels(route, status).inc()
        REQUEST_SECONDS.labels(route).observe(seconds)
        if self._access_log:
            # in the form of the log's other lines, in a third of the time that logging takes
            stamp = datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00")
            method = scope["method"][:10]
            sys.stderr.write(f"{stamp}Z {method} {route} {status} {1000 * seconds:.1f} ms\n")
