"""Labels for the threads of a job: handed out as they become ready, in fair shares.

Where labels start at their parents' solutions (OVA-Primal++), a label is ready
when its parent is solved. Labels that became ready last are taken first, which
is a depth-first walk: few parents wait for their children at a time, and the
threads meet inside a subtree as well as on different ones.
"""

from threading import Condition

from ovaflow.artifacts.label_tree import ROOT


class LabelQueue:
    """Labels of a job.

    Parameters
    ----------
    labels : list of int
        Those that should be taken first stand first.
    kinds : list of int
        Which solver each of them needs.
    n_kinds : int
    parents : ndarray of int, shape (l,), or None
        Label that must be solved before, ``ROOT`` for none; parents are among ``labels``.
    threads : int
        Among which labels are shared out.
    """

    def __init__(self, labels, kinds, n_kinds, parents=None, threads=1):
        self._kind = dict(zip(labels, kinds, strict=True))
        self._waiting = [kinds.count(kind) for kind in range(n_kinds)]
        self._ready = [[] for _ in range(n_kinds)]
        self._children = {}
        for label in reversed(labels):
            parent = ROOT if parents is None else int(parents[label])
            if parent == ROOT:
                self._ready[self._kind[label]].append(label)
            else:
                self._children.setdefault(parent, []).append(label)
        self._in_flight, self._threads = 0, threads
        self._stopped = False
        self._changed = Condition()

    def stop(self):
        """Hand out no more labels."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def take(self, kind, held):
        """Take a label.

        Parameters
        ----------
        kind : int
        held : int
            Labels that this thread has in flight.

        Returns
        -------
        int or None
            None if the thread has its share already, or none is ready yet.

        Raises
        ------
        StopIteration
            If there will be no more of this kind.
        """
        with self._changed:
            if self._stopped or not self._waiting[kind]:
                raise StopIteration
            unsolved = self._in_flight + sum(map(len, self._ready))
            if not self._ready[kind] or held * self._threads >= unsolved:
                return None
            self._waiting[kind] -= 1
            self._in_flight += 1
            return self._ready[kind].pop()

    def finish(self, label):
        """Make the children of a solved label ready.

        Parameters
        ----------
        label : int
        """
        with self._changed:
            self._in_flight -= 1
            for child in self._children.pop(label, ()):
                self._ready[self._kind[child]].append(child)
            self._changed.notify_all()

    def wait(self):
        """Return when a label may be ready, or none is left to wait for."""
        with self._changed:
            while not (self._stopped or any(self._ready) or not any(self._waiting)):
                self._changed.wait()


class Hand:
    """One thread's access to the queue.

    Parameters
    ----------
    queue : LabelQueue
    """

    def __init__(self, queue):
        self._queue, self._held = queue, 0

    def labels(self, kind):
        """Iterate over labels of a kind.

        Parameters
        ----------
        kind : int

        Yields
        ------
        int or None
            None says that others may become ready later.
        """
        return iter(_Labels(self, kind))

    def take(self, kind):
        """As :meth:`LabelQueue.take`."""
        label = self._queue.take(kind, self._held)
        self._held += label is not None
        return label

    def finish(self, label):
        """As :meth:`LabelQueue.finish`."""
        self._held -= 1
        self._queue.finish(label)


class _Labels:
    """Iterator; no generator, which could not raise StopIteration as it is."""

    def __init__(self, hand, kind):
        self._hand, self._kind = hand, kind

    def __iter__(self):
        return self

    def __next__(self):
        return self._hand.take(self._kind)
