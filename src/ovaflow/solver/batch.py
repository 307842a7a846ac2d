"""The fast path: many labels in flight, each solved on a working set and checked on all instances.

A label is *admitted* with weights that rank the instances, *solved* from its
start on those ranked highest, and *checked*: the screen finds every instance
whose loss is curved under the label's weights, and those that are missing join
the working set. The label is finished when they leave its gradient below the
target without another step.

Why this is exact: under the squared hinge an instance with a margin of 1 or
more adds nothing to the objective, its gradient or its Hessian. After the last
check the working set holds all others, so its gradient is the gradient over all
n instances, and the plain solver's stopping rule holds on them. Features that
no instance of the working set has can be left out, since the weight of such a
feature is zero at the optimum. Which instances begin, or are dropped, changes
only the work: the check finds what matters after all.
"""

import numpy as np

from ovaflow.solver.columns import ADMITTED, DONE, EMPTY, admit, advance, make_batch, screen_columns, set_weights
from ovaflow.solver.problem import Outcome
from ovaflow.solver.working_set import make_local
from ovaflow.sparse.panel import WIDTH

_NEGLIGIBLE = 1e-3
"""Size below which weights are left out of a ranking, except for popular features."""


class BatchSolver:
    """Solves labels for one thread, up to :data:`~ovaflow.sparse.panel.WIDTH` at a time.

    Parameters
    ----------
    X : CSR, shape (n, d)
    screen : Screen
        Made from X, shared by all threads.
    settings : Settings
        With the squared hinge: other losses are curved everywhere.
    """

    def __init__(self, X, screen, settings):
        self._X, self._screen, self._settings = X, screen, settings
        self._batch = make_batch(X.n_rows, X.n_columns, len(screen.popular_features))
        self._local = make_local(X)
        self._labels = {}

    @property
    def has_room(self):
        """Whether another label can be admitted."""
        return len(self._labels) < WIDTH

    def admit(self, label, positives, ranking, target, positive_cost=1.0):
        """Take a label.

        Parameters
        ----------
        label : int
        positives : ndarray of int32, shape (n_positives,)
        ranking : ndarray of float32, shape (d,)
            Weights under which the instances of high scores make the first
            working set; any weights are right, good ones save work.
        target : float
            What the gradient's norm must reach.
        positive_cost : float
            Weight of the losses of positives.
        """
        column = int(np.flatnonzero(self._batch.state == EMPTY)[0])
        admit(column, positives, float(positive_cost), target, self._batch)
        set_weights(column, ranking, _NEGLIGIBLE, self._screen, self._batch)
        self._labels[label] = column

    def is_new(self, label):
        """Whether a label still waits for its start.

        Parameters
        ----------
        label : int

        Returns
        -------
        bool
        """
        return self._batch.state[self._labels[label]] == ADMITTED

    def begin(self, label, start):
        """Give a label its start, after its first screen.

        Parameters
        ----------
        label : int
        start : ndarray of float32, shape (d,)
        """
        set_weights(self._labels[label], start, 0.0, self._screen, self._batch)

    def screen(self):
        """Find what each label in flight must look at next."""
        screen_columns(self._X.n_rows, self._screen, self._batch)

    def advance(self, label):
        """Use what the screen found for one label.

        Parameters
        ----------
        label : int

        Returns
        -------
        (indices, weights, Outcome) or None
            The solution, if the label has reached its target; its column is
            then free. The weights are views, indices unsorted.
        """
        column = self._labels[label]
        batch = self._batch
        advance(column, self._X, self._screen, batch, self._local, self._settings)
        if batch.state[column] != DONE:
            return None
        del self._labels[label]
        batch.state[column] = EMPTY
        size = batch.n_support[column]
        figures = batch.outcome[column].tolist()
        kinds = Outcome.__annotations__.values()
        outcome = Outcome(*(kind(figure) for kind, figure in zip(kinds, figures, strict=True)))
        return batch.support[column, :size], batch.weights[column, :size], outcome
