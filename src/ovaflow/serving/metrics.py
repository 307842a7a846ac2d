"""Figures for Prometheus, counted by each worker in memory that all of them share.

Each worker has a row and writes to it alone, so nothing is locked; whoever is
asked adds the rows up. A worker that takes the place of one that died goes on
with its counts.
"""

import bisect
import mmap

import numpy as np
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

from ovaflow import __version__

ROUTES = ("/", "/docs", "/predict", "/explain", "/labels", "/labels/{label}", "/health", "/metrics", "/openapi.json")
STATUSES = (200, 400, 404, 405, 408, 409, 413, 422, 431, 500, 503)
BUCKETS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
OTHER = "other"

_CHECKSUM = 32


class Metrics:
    """Counters of all workers.

    Made once, before the workers are; each then calls :meth:`become`.

    Parameters
    ----------
    workers : int
    """

    def __init__(self, workers):
        self._routes, self._statuses = (*ROUTES, OTHER), (*map(str, STATUSES), OTHER)
        one = np.zeros((), self._row_type(len(self._routes), len(self._statuses)))
        self._rows = np.frombuffer(mmap.mmap(-1, workers * one.nbytes), one.dtype)
        self._mine = self._rows[:1]

    @staticmethod
    def _row_type(routes, statuses):
        return np.dtype(
            [
                ("requests", np.int64, (routes, statuses)),
                ("buckets", np.int64, (routes, len(BUCKETS) + 1)),
                ("seconds", np.float64, routes),
                ("instances", np.int64),
                ("busy", np.int64),
                ("reloads", np.int64, 2),
                ("checksum", f"S{_CHECKSUM}"),
            ]
        )

    def become(self, worker):
        """Count as one of the workers from now on.

        Parameters
        ----------
        worker : int
        """
        self._mine = self._rows[worker : worker + 1]
        self._mine["busy"] = 0

    def count_request(self, route, status, seconds=None):
        """Count an answered or refused request.

        Parameters
        ----------
        route : str
            Its template.
        status : int
        seconds : float, optional
            How long the answer took; None for what was refused before it was a request.
        """
        where = self._routes.index(route if route in ROUTES else OTHER)
        self._mine["requests"][0, where, self._statuses.index(str(status) if status in STATUSES else OTHER)] += 1
        if seconds is not None:
            self._mine["buckets"][0, where, bisect.bisect_left(BUCKETS, seconds)] += 1
            self._mine["seconds"][0, where] += seconds

    def count_instances(self, number):
        """Count instances that were predicted.

        Parameters
        ----------
        number : int
        """
        self._mine["instances"] += number

    def set_busy(self, number):
        """Note how many requests are in a thread or wait for one.

        Parameters
        ----------
        number : int
        """
        self._mine["busy"] = number

    def set_model(self, checksum):
        """Note which model answers.

        Parameters
        ----------
        checksum : str
        """
        self._mine["checksum"] = checksum.encode()

    def count_reload(self, succeeded):
        """Count a replaced file.

        Parameters
        ----------
        succeeded : bool
        """
        self._mine["reloads"][0, int(succeeded)] += 1

    def exposition(self):
        """All figures in Prometheus's text format.

        Returns
        -------
        bytes
        """
        registry = CollectorRegistry()
        registry.register(self)
        return generate_latest(registry)

    def collect(self):
        """Metric families, as the client library asks for them."""
        rows = self._rows.copy()
        yield self._requests(rows)
        yield self._seconds(rows)
        instances = CounterMetricFamily("ovaflow_instances", "Instances predicted.", labels=())
        instances.add_metric((), int(rows["instances"].sum()))
        yield instances
        busy = GaugeMetricFamily("ovaflow_busy", "Requests in a scoring thread or waiting for one.", labels=())
        busy.add_metric((), int(rows["busy"].sum()))
        yield busy
        reloads = CounterMetricFamily("ovaflow_reloads", "Replaced files taken up, by outcome.", labels=("outcome",))
        for outcome, column in (("succeeded", 1), ("failed", 0)):
            reloads.add_metric((outcome,), int(rows["reloads"][:, column].sum()))
        yield reloads
        models = GaugeMetricFamily("ovaflow_model_workers", "Workers that answer with a model.", labels=("model",))
        for checksum in sorted(set(rows["checksum"].tolist()) - {b""}):
            models.add_metric((checksum.decode(),), int((rows["checksum"] == checksum).sum()))
        yield models
        build = GaugeMetricFamily("ovaflow_build_info", "Version of ovaflow.", labels=("version",))
        build.add_metric((__version__,), 1)
        yield build

    def _requests(self, rows):
        family = CounterMetricFamily(
            "ovaflow_requests", "Requests answered or refused, by route and status.", labels=("route", "status")
        )
        total = rows["requests"].sum(axis=0)
        for i, j in zip(*np.nonzero(total), strict=True):
            family.add_metric((self._routes[i], self._statuses[j]), int(total[i, j]))
        return family

    def _seconds(self, rows):
        family = HistogramMetricFamily(
            "ovaflow_request_seconds", "From the request's head to the answer's end, by route.", labels=("route",)
        )
        counts, seconds = np.cumsum(rows["buckets"].sum(axis=0), axis=1), rows["seconds"].sum(axis=0)
        bounds = [*map(str, BUCKETS), "+Inf"]
        for i in np.flatnonzero(counts[:, -1]):
            buckets = list(zip(bounds, counts[i].tolist(), strict=True))
            family.add_metric((self._routes[i],), buckets, float(seconds[i]))
        return family
