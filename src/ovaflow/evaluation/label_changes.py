"""What becomes of labels from one model to the next: new, gone and renamed ones."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

SAME = 0.7
"""Cosine of the weights from which on two labels are one that was renamed.

Measured on kirjastonhoitaja: after an archive was relabelled those of 24 labels (4 to 60 positives) were 0.90 to 1.00,
those of others at most 0.2. Between models of disjoint halves, whose labels have few texts, others reached 0.68.
"""

_MOST = 1000  # labels of each kind, the most frequent ones, whose weights are compared


class LabelChanges(NamedTuple):
    """Labels that were trained in one of two models only, by falling number of positives."""

    new: list  # entries: name, uri where there is one, positives
    gone: list
    renamed: list  # entries: from, to, and cosine of their weights; None where the URI is the same

    @property
    def entry(self):
        return self._asdict()


def label_changes(old, new):
    """The :class:`LabelChanges` from one predictor to another."""
    theirs, ours = _Labels(old), _Labels(new)
    gone, added = theirs.without(ours), ours.without(theirs)
    same = _same_weights(theirs, gone[:_MOST], ours, added[:_MOST])
    renamed = [
        {"from": theirs.names[j], "to": ours.names[ours.ids[key]], "cosine": None}
        for key, j in theirs.ids.items()
        if key in ours.ids and theirs.names[j] != ours.names[ours.ids[key]]
    ]
    renamed += [{"from": theirs.names[j], "to": ours.names[k], "cosine": cosine} for j, k, cosine in same]
    left = {j for j, _, _ in same}, {k for _, k, _ in same}
    return LabelChanges(
        new=[ours.entry(label) for label in added if label not in left[1]],
        gone=[theirs.entry(label) for label in gone if label not in left[0]],
        renamed=renamed,
    )


class _Labels:
    """Labels of a predictor that have training positives, by URI, or by name without one."""

    def __init__(self, predictor):
        self.model, self.names, self.uris = predictor.model, predictor.label_names, predictor.label_uris
        self.features = predictor.feature_names if len(predictor.feature_names) else range(self.model.n_features)
        self.counts = np.asarray(self.model.counts)
        self.ids = {self._key(label): label for label in np.flatnonzero(self.model.trained).tolist()}

    def _key(self, label):
        return (self.uris[label] if len(self.uris) else "") or self.names[label] or label

    def without(self, others):
        """Labels that others do not have, the most frequent first."""
        labels = [label for key, label in self.ids.items() if key not in others.ids]
        return sorted(labels, key=lambda label: -self.counts[label])

    def entry(self, label):
        entry: dict[str, Any] = {"name": self.names[label], "positives": int(self.counts[label])}
        if len(self.uris) and self.uris[label]:
            entry["uri"] = self.uris[label]
        return entry

    def unit_weights(self, labels, columns):
        """Weights of labels in some features, CSR, of vectors that have length 1 without the bias."""
        rows = []
        for label in labels:
            weights = self.model.linear.label_weights(label, np.arange(self.model.n_features)).astype(np.float64)
            if self.model.bias_feature >= 0:
                weights[self.model.bias_feature] = 0
            rows.append(scipy.sparse.csr_array(weights[columns][None] / max(np.linalg.norm(weights), 1e-30)))
        return scipy.sparse.vstack(rows, format="csr")


def _same_weights(theirs, gone, ours, added):
    """Pairs of labels, each the other's nearest, whose weights are the same: (old, new, cosine)."""
    if not gone or not added or theirs.model.linear is None or ours.model.linear is None:
        return []
    places = {feature: place for place, feature in enumerate(theirs.features)}
    shared = [(places[each], place) for place, each in enumerate(ours.features) if each in places]
    before, after = map(list, zip(*shared, strict=True)) if shared else ([], [])
    cosines = (theirs.unit_weights(gone, before) @ ours.unit_weights(added, after).T).toarray()
    nearest = cosines.argmax(axis=1)
    mutual = cosines.argmax(axis=0)[nearest] == np.arange(len(gone))
    found = np.flatnonzero(mutual & (cosines.max(axis=1) >= SAME))
    return [(gone[row], added[nearest[row]], float(cosines[row, nearest[row]])) for row in found.tolist()]
