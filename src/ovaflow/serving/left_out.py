"""Labels that are suggested to nobody: those of a file that may change while the service runs."""

import contextlib
import logging
import os
import threading
import time

import numpy as np

from ovaflow.console.errors import InputError, UnreadableError
from ovaflow.data.label_choice import entries_in
from ovaflow.serving import failures, metrics
from ovaflow.storage.writing import write_text

_SECONDS = 1.0
"""The files are looked at so often."""
_UNREAD = object()

_log = logging.getLogger(__name__)


def offered_without(predictor, path):
    """Which labels a file leaves, bool (l,), and its entries."""
    offered, entries = np.ones(predictor.n_labels, bool), []
    for line, entry in entries_in(path):
        try:
            offered[predictor.finder.require(entry)] = False
        except InputError as error:
            raise InputError(error, path=path, line=line) from None
        entries.append(entry)
    if not offered.any():
        raise InputError("leaves no label to suggest", path=path, remedy="remove lines")
    return offered, entries


class LeftOut:
    """The labels of a project's file; while it cannot be read, those that were last read from it."""

    def __init__(self, project, predictor, path):
        self._project, self._predictor, self._path = project, predictor, path
        self._subject = f"left-out-{project}"
        self._seen = self._read = _stamp(path)
        self._said = None  # of what is wrong
        # other workers have read it, perhaps before it was damaged
        self._last = failures.shared_file(f"{self._subject}.txt")
        try:
            self._take(path)
        except InputError as error:
            if not self._last.exists():
                raise
            self._take(self._last)
            self._fail(error)

    def described(self):
        """As /health has it."""
        return {"labels": self.amount, "failed": failures.described(self._subject)}

    @property
    def amount(self):
        offered, _ = self._current
        return int(np.count_nonzero(~offered))

    def of(self, predictor):
        """The same model without these labels; until others are left out it is the same object."""
        offered, known = self._current
        if predictor not in known:
            known[predictor] = predictor.offering(offered)
        return known[predictor]

    def look(self):
        """Read the file again if it has changed since it was read, and rests: who writes it has done so."""
        before, self._seen = self._seen, _stamp(self._path)
        if self._seen != before or self._seen == self._read:
            return
        self._read = self._seen
        try:
            self._take(self._path)
        except (InputError, OSError) as error:
            self._fail(error)
            if isinstance(error, UnreadableError | OSError):
                self._read = _UNREAD  # what the system refuses may be had later
        else:
            _log.info("labels left out by %s: %s", self._path, f"{self.amount:,}")

    def _take(self, path):
        offered, entries = offered_without(self._predictor, path)
        self._current = offered, {}
        metrics.LEFT_OUT.labels(self._project).set(self.amount)
        if path != self._last:
            self._said = None
            failures.forget(self._subject)
            # on a full disk the service goes on
            with contextlib.suppress(InputError, OSError):
                write_text(self._last, "".join(f"{entry}\n" for entry in entries))
        metrics.LEFT_OUT_FAILED.labels(self._project).set(failures.since(self._subject))

    def _fail(self, error):
        failures.note(self._subject, failures.shown(error, [self._path]))
        metrics.LEFT_OUT_FAILED.labels(self._project).set(failures.since(self._subject))
        if str(error) != self._said:
            self._said = str(error)
            _log.error("the same labels as before are left out: %s", error)


def left_out_of(project, predictor, options):
    """What a model leaves out for everyone, watched outside of the threads that answer; None without a file."""
    if project not in options.exclude:
        return None
    left_out = LeftOut(project, predictor, options.exclude[project])
    threading.Thread(target=_watch, args=[left_out], name=f"left out of {project}", daemon=True).start()
    return left_out


def _watch(left_out):
    while True:
        time.sleep(_SECONDS)
        left_out.look()


def _stamp(path):
    """What changes when a file does; None without one."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
