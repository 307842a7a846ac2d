"""Labels that a shard job has finished: what its journal keeps of them, and what the job that continues makes of it."""

import operator
import struct
import sys

import numpy as np

from ovaflow.fingerprint import code_fingerprint
from ovaflow.solver.problem import Outcome
from ovaflow.storage.journal import CoreTime, digest_of, open_journal
from ovaflow.training.label_jobs import TrainedLabel

_COUNTS = ("newton_steps", "cg_steps", "line_search_halvings", "active_start", "active_end", "status", "full_passes")
_MEASURES = ("objective", "gradient_norm", "gradient_target")
_FIELDS = _COUNTS + _MEASURES
_NOTE = struct.Struct(f"<{len(_COUNTS)}q{len(_MEASURES)}dd")
_values_of = operator.attrgetter(*_FIELDS)


def journal_of_labels(output, labels, training, inputs, made_from, command, title):
    """Journal of a shard job.

    Parameters
    ----------
    output : path-like
        The shard file.
    labels : ndarray of int, shape (m,)
    training : Training
    inputs : StartInputs
    made_from : dict of str to str
        Checksums of the artifacts that are used, by kind.
    command : str
        Name of the module whose code trains.
    title : str
        Of the job.

    Returns
    -------
    context manager of Journal
    """
    means, root = inputs.means, inputs.root
    arrays = [labels, means.x_mean, means.pp, means.xp, np.array([means.xx, inputs.bias, inputs.n]), means.counts]
    arrays += [] if root is None else [root.weights]
    arrays += [] if inputs.parents is None else [inputs.parents]
    digest = digest_of(training.parameters, made_from, code_fingerprint(command), *arrays)
    return open_journal(output, digest, len(labels), "labels", title)


class FinishedLabels:
    """Labels of a shard as they are finished, and those that earlier attempts finished.

    Parameters
    ----------
    journal : Journal or None
        None keeps nothing.
    threads : int
    """

    def __init__(self, journal, threads):
        self._journal, self._time = journal, CoreTime(threads)

    @property
    def core_seconds(self):
        """Of all attempts, so far."""
        return self._time.core_seconds

    def earlier(self, labels, title):
        """What earlier attempts finished.

        Parameters
        ----------
        labels : ndarray of int, shape (m,)
        title : str
            Of the job, for the log.

        Returns
        -------
        results : dict of int to TrainedLabel
        solutions : dict of int to tuple of ndarray
            Features and weights, before pruning, of labels whose children start there.
        """
        parts = [] if self._journal is None else self._journal.finished()
        results, solutions = {}, {}
        for label, note, (indices, data, *solution) in parts:
            *values, seconds = _NOTE.unpack(note)
            outcome = Outcome(**dict(zip(_FIELDS, values, strict=True)))
            results[label] = TrainedLabel(indices, data, outcome, seconds)
            if solution:
                solutions[label] = tuple(solution)
        if parts:
            self._time.before = self._journal.core_seconds
            print(f"{title}: continues, {len(results):,} of {len(labels):,} labels were finished", file=sys.stderr)
        return results, solutions

    def keep(self, label, trained):
        """Keep a finished label.

        Parameters
        ----------
        label : int
        trained : TrainedLabel
        """
        if self._journal is None:
            return
        note = _NOTE.pack(*_values_of(trained.outcome), trained.seconds)
        arrays = [trained.indices, trained.data, *(trained.solution or ())]
        self._journal.add(label, trained.seconds, self.core_seconds, note, arrays)
