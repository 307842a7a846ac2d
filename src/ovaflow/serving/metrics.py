"""Figures for Prometheus, added up over all workers, and the log of requests.

prometheus_client keeps what each worker counts in files of the folder that
PROMETHEUS_MULTIPROC_DIR names; it must be set before this module is imported.
"""

import asyncio
import contextlib
import os
import shutil
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import psutil
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from ovaflow import __version__
from ovaflow.serving import failures, supervisor

_SECONDS_BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)

REQUEST_COUNT = Counter(
    "ovaflow_requests", "Requests answered or refused, by route and status.", ["route", "status"]
)
REQUEST_SECONDS = Histogram(
    "ovaflow_request_seconds",
    "From the request's head to its answer, by route.",
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
_UNKNOWN_WORD_COUNT = Counter("ovaflow_unknown_words", "Words without a feature.", ["model"])
_REFERENCE_UNKNOWN_SHARE = Gauge(
    "ovaflow_reference_unknown_words_ratio",
    "Share of unknown words of the test set.",
    ["model"],
    multiprocess_mode="livemax",
)
EXCLUSION_FAILURE_TIME = Gauge(
    "ovaflow_left_out_failed_timestamp_seconds",
    "Since when the file of labels to leave out is wrong; 0 if all is well.",
    ["project"],
    multiprocess_mode="livemostrecent",
)
_BUILD_INFO = Gauge(
    "ovaflow_build_info", "Version of ovaflow.", ["version"], multiprocess_mode="max"
)


def count_worker(checksums) -> None:
    """Count this worker among those that answer with these models."""
    BUSY_REQUESTS.set(0)
    for checksum in checksums:
        _MODEL_WORKERS.labels(checksum).set(1)
    _BUILD_INFO.labels(__version__).set(1)


def make_word_counter(served):
    """Make the function that counts the words of texts that a served model is asked about."""
    checksum = served.model.checksum
    usual_share = served.predictor.usual.unknown_share
    words = _WORD_COUNT.labels(checksum)
    unknown_words = _UNKNOWN_WORD_COUNT.labels(checksum)
    if usual_share is not None:
        _REFERENCE_UNKNOWN_SHARE.labels(checksum).set(usual_share)

    def count(word_count) -> None:
        words.inc(word_count.words)
        unknown_words.inc(word_count.unknown)

    return count


def render_metrics():
    """All workers' figures in Prometheus's text format, as bytes."""
    registry = CollectorRegistry()
    registry.register(_WorkerCollector())
    registry.register(_ReloadCollector())
    return generate_latest(registry)


def remove_metrics() -> None:
    """Remove the figures, which a supervisor that was killed has left; other workers may do so at
    the same time.
    """
    shutil.rmtree(os.environ["PROMETHEUS_MULTIPROC_DIR"], ignore_errors=True)


class _WorkerCollector(Collector):
    """Adds up the files of all workers, while workers come and go."""

    def collect(self):
        files = []
        for path in Path(os.environ["PROMETHEUS_MULTIPROC_DIR"]).glob("*.db"):
            worker = int(path.stem.rpartition("_")[2])
            with contextlib.suppress(FileNotFoundError):  # another worker has just removed it
                if path.name.startswith("gauge_live") and not psutil.pid_exists(worker):
                    path.unlink()
                elif path.stat().st_size:  # otherwise a worker that starts has just opened it
                    files.append(path)
        return MultiProcessCollector.merge(files)


class _ReloadCollector(Collector):
    """What the supervisor notes."""

    def collect(self):
        about = "Since when the model cannot be opened again; 0 if the last reload worked."
        failed = GaugeMetricFamily("ovaflow_reload_failed_timestamp_seconds", about)
        failed.add_metric([], failures.get_failure_time(supervisor.RELOAD_FAILURE))
        yield failed


class RequestObserver:
    """ASGI middleware that counts each request and logs it, without what was sent and without who
    sent it.
    """

    def __init__(self, app, access_log) -> None:
        self._app = app
        self._access_log = access_log

    async def __call__(self, scope, receive, send) -> None:
        """Answer a request; it is counted before its client can ask for the figures."""
        began = time.perf_counter()

        async def send_and_count(message) -> None:
            if message["type"] == "http.response.start":
                self._count(scope, message["status"], time.perf_counter() - began)
            await send(message)

        await asyncio.sleep(
            0
        )  # for uvicorn to note that it refused a malformed body that came with the head
        await self._app(scope, receive, send_and_count)

    def _count(self, scope, status, seconds) -> None:
        route = getattr(scope.get("route"), "path", "other")
        REQUEST_COUNT.labels(route, status).inc()
        REQUEST_SECONDS.labels(route).observe(seconds)
        if self._access_log:  # as the log's other lines, in a third of the time that logging takes
            stamp = datetime.now(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00")
            sys.stderr.write(
                f"{stamp}Z {scope['method'][:10]} {route} {status} {1000 * seconds:.1f} ms\n"
            )
