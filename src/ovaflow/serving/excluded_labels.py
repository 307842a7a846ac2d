"""Labels that are suggested to no client: those of a file, which may change at any time."""

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ovaflow.console.errors import InputError, StrPath
from ovaflow.labels.choice import read_entries
from ovaflow.prediction.predictor import Predictor
from ovaflow.serving import failures, metrics
from ovaflow.storage.writing import write_text

_POLLING_SECONDS = 1.0
"""Seconds between two looks at a file: a change holds after about two of them."""

_log = logging.getLogger(__name__)


def read_excluded_labels(predictor: Predictor, path: StrPath) -> tuple[np.ndarray, list[str]]:
    """Read a file of labels to exclude.

    Returns
    -------
    allowed : ndarray of bool, shape (l,)
        True for the labels that are left.
    entries : list of str
        Entries of the file.

    Raises
    ------
    InputError
        If the file is missing or names an unknown label.
    """
    entries = list(read_entries(path))
    try:
        return predictor.allowed(exclude=entries), entries
    except InputError as error:
        raise InputError(error, path=path) from None


class ExcludedLabels:
    """The excluded labels of a project's file; while it cannot be read, those that were last read.

    A thread reads the file again after it has changed.

    Parameters
    ----------
    project : str
        Name of the served model.
    predictor : Predictor
        The served model.
    path : path-like
        The file.

    Attributes
    ----------
    apply : callable
        Returns a predictor without the excluded labels; for one predictor the same object, until
        the excluded labels change.
    """

    apply: Callable[[Predictor], Predictor]

    def __init__(self, project: str, predictor: Predictor, path: StrPath) -> None:
        self._predictor = predictor
        self._path = path
        self._error: str | None = None
        self._failure_time = metrics.EXCLUSION_FAILURE_TIME.labels(project)
        self._failure_subject = f"left-out-failed-{project}"
        self._seen_state = _read_file_state(path)
        self._read_state = self._seen_state
        # other workers have read it, perhaps before it was damaged
        self._last_good_path = failures.get_shared_path(f"left-out-{project}")
        self._reload()
        if self._error:
            allowed, _ = read_excluded_labels(predictor, self._last_good_path)
            self._set_allowed(allowed)
        threading.Thread(target=self._watch, daemon=True).start()

    def health(self) -> dict[str, Any]:
        """Return the fields of /health: the number of excluded labels, and the file's failure."""
        failure = failures.read_failure(self._failure_subject)
        return {"left_out": self._n_excluded, "left_out_failed": failure}

    def _set_allowed(self, allowed: np.ndarray) -> None:
        self._n_excluded = int(np.count_nonzero(~allowed))

        @cache
        def apply(predictor: Predictor) -> Predictor:
            return predictor.offering(allowed)

        self.apply = apply

    def _watch(self) -> None:
        """Reload the file after it has changed or was wrong, once it stays the same between two
        looks, because its writer has finished.
        """
        while True:
            time.sleep(_POLLING_SECONDS)
            earlier_state = self._seen_state
            self._seen_state = _read_file_state(self._path)
            if self._seen_state != earlier_state:
                continue
            if self._seen_state != self._read_state or self._error:
                self._read_state = self._seen_state
                self._reload()

    def _reload(self) -> None:
        try:
            allowed, entries = read_excluded_labels(self._predictor, self._path)
        except (InputError, OSError) as error:
            if self._error != str(error):
                self._error = str(error)
                reason = failures.describe_error(error, self._path)
                failures.record_failure(self._failure_subject, reason)
                _log.error("the same labels as before are left out: %s", error)
        else:
            self._set_allowed(allowed)
            self._error = None
            failures.clear_failure(self._failure_subject)
            _log.info("labels left out by %s: %s", self._path, f"{self._n_excluded:,}")
            # on a full disk the service goes on
            with contextlib.suppress(InputError):
                write_text(self._last_good_path, "\n".join(entries))
        self._failure_time.set(failures.get_failure_time(self._failure_subject))


def _read_file_state(path: StrPath) -> tuple[int, int] | None:
    """Read the inode and the time of change, which tell whether a file, its name or its permissions
    have changed; None if there is no file.
    """
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_ctime_ns
