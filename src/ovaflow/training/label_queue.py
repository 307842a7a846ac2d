"""Labels for the threads of a job: handed out as they become ready, in fair shares.

Where labels start at their parents' solutions (OVA-Primal++), a label is ready when its parent is
solved. Labels that became ready last are taken first, which is a depth-first walk: few parents wait
for their children at a time, and threads work on the same subtree as well as on different ones.
"""

from threading import Condition

from ovaflow.artifacts.label_tree import ROOT


class LabelQueue:
    """Labels of a job, the most urgent first, and whether each is solved on the fast path.

    ``parents`` names the label that must be solved before each, ``ROOT`` for none; parents are among
    the labels.
    """

    def __init__(self, labels, fast, parents=None, threads=1):
        self._fast = dict(zip(labels, fast, strict=True))
        self._n_waiting = len(labels)
        self._ready = {False: [], True: []}
        self._children = {}
        for label in reversed(labels):
            parent = ROOT if parents is None else int(parents[label])
            if parent == ROOT:
                self._ready[self._fast[label]].append(label)
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

    def take(self, fast, held=0):
        """A label for the fast path, or for the plain solver, of a thread with ``held`` in flight.

        None if no label is ready yet, or the thread already has its share.
        """
        with self._changed:
            unsolved = self._in_flight + sum(map(len, self._ready.values()))
            if self._stopped or not self._ready[fast] or held * self._threads >= unsolved:
                return None
            self._n_waiting -= 1
            self._in_flight += 1
            return self._ready[fast].pop()

    def finish(self, label):
        """Make the children of a solved label ready."""
        with self._changed:
            self._in_flight -= 1
            for child in self._children.pop(label, ()):
                self._ready[self._fast[child]].append(child)
            self._changed.notify_all()

    def wait(self):
        """Wait until a label may be ready; False if there will be no more."""
        with self._changed:
            while not self._stopped and self._n_waiting and not any(self._ready.values()):
                self._changed.wait()
            return not self._stopped and self._n_waiting > 0
