"""Labels that are suggested to nobody: those of a file that may change while the service runs."""

import contextlib
import logging
import os
import threading
import time
from functools import cache

import numpy as np

from ovaflow.console.errors import InputError
from ovaflow.labels.choice import read_entries
from ovaflow.serving import failures, metrics
from ovaflow.storage.writing import write_text

_POLLING_SECONDS = 1.0
"""A file is looked at so often."""

_log = logging.getLogger(__name__)


def read_excluded_labels(predictor, path):
    """Which labels a file leaves, bool (l,), and its entries."""
    entries = list(read_entries(path))
    try:
        return predictor.allowed(exclude=entries), entries
    except InputError as error:
        raise InputError(error, path=path) from None


class ExcludedLabels:
    """The labels of a project's file; while it cannot be read, those that were last read from it."""

    def __init__(self, project, predictor, path) -> None:
        self._predictor = predictor
        self._path = path
        self._wrong = None
        self._since = metrics.EXCLUSION_FAILURE_TIME.labels(project)
        self._subject = f"left-out-failed-{project}"
        self._seen = self._read = _read_file_state(path)
        # other workers have read it, perhaps before it was damaged
        self._last = failures.get_shared_path(f"left-out-{project}")
        self._take()
        if self._wrong:
            self._use(read_excluded_labels(predictor, self._last)[0])
        threading.Thread(target=self._watch, daemon=True).start()

    def health(self):
        return {"left_out": self._amount, "left_out_failed": failures.read_failure(self._subject)}

    def _use(self, offered) -> None:
        self._amount = int(np.count_nonzero(~offered))
        # the same model without these labels, the same object until others are left out
        self.of = cache(lambda predictor: predictor.offering(offered))

    def _watch(self) -> None:
        """Read the file again when it has changed and rests, as who writes it has done so, or was
        wrong.
        """
        while True:
            time.sleep(_POLLING_SECONDS)
            before = self._seen
            self._seen = _read_file_state(self._path)
            if self._seen == before and (self._seen != self._read or self._wrong):
                self._read = self._seen
                self._take()

    def _take(self) -> None:
        try:
            offered, entries = read_excluded_labels(self._predictor, self._path)
        except (InputError, OSError) as error:
            if self._wrong != str(error):
                self._wrong = str(error)
                failures.record_failure(self._subject, failures.describe_error(error, self._path))
                _log.error("the same labels as before are left out: %s", error)
        else:
            self._use(offered)
            self._wrong = None
            failures.clear_failure(self._subject)
            _log.info("labels left out by %s: %s", self._path, f"{self._amount:,}")
            # on a full disk the service goes on
            with contextlib.suppress(InputError):
                write_text(self._last, "\n".join(entries))
        self._since.set(failures.get_failure_time(self._subject))


def _read_file_state(path):
    """What changes when a file, its name or its permissions do; None without one."""
    with contextlib.suppress(OSError):
        status = os.stat(path)
        return status.st_ino, status.st_ctime_ns
