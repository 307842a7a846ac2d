"""What every start offers to the threads that train labels."""

from abc import ABC, abstractmethod


class Start(ABC):
    """First weights of each label.

    Attributes
    ----------
    parents : ndarray of int32, shape (l,), or None
        Label whose solution each label starts from, -1 where none; None where
        labels start independently of each other.
    """

    parents = None

    @abstractmethod
    def fill(self, label, X, positives, weights):
        """Write the start of a label into ``weights``.

        Parameters
        ----------
        label : int
        X : CSR, shape (n, d)
        positives : ndarray of int32, shape (n_positives,)
        weights : ndarray of float32, shape (d,)
        """

    def resume(self, labels, solutions):  # noqa: B027 (most starts learn nothing)
        """Learn what an earlier attempt of the same job solved.

        Parameters
        ----------
        labels : ndarray of int, shape (m,)
            Those that are left.
        solutions : dict of int to tuple of ndarray
            As :meth:`keep` returned them.
        """

    def keep(self, label, features, weights):  # noqa: B027 (most starts learn nothing)
        """Learn the solution of a label, which starts of other labels may need.

        Parameters
        ----------
        label : int
        features : ndarray of int32, shape (m,)
            May be used for something else after the call, as ``weights``.
        weights : ndarray of float32, shape (m,)
            Nothing is pruned yet.

        Returns
        -------
        tuple of ndarray, or None
            A copy of both, if labels start there.
        """
